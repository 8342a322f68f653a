// What printf has to print, in the comment behind each call. OpenCL C 3.0, 6.15.14: vectors, lengths,
// flags, widths and precisions; then conversions that the specification leaves undefined, each with
// its correct twin. Arguments come from memory, so that the compiler folds nothing.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
kernel void example(global float *in, global float *out, local float *scratch, int n) {
  if (get_global_id(0) < n) out[get_global_id(0)] = 0;
  if (get_global_id(0)) return;
  int zero = (int)in[0];
  float one = in[1], f = in[2] + 0.5f;
  float4 f4 = (float4)(in[0], in[1], -f, in[3]);
  printf("%v4hlf\n", f4);                                    // prints: 0.000000,1.000000,-2.500000,3.000000
  printf("%v2hlf|%v3hlf\n", f4.xy, f4.yzw);                  // prints: 0.000000,1.000000|1.000000,-2.500000,3.000000
  printf("%5.1v4hlf|\n", f4);                                // prints:   0.0,  1.0, -2.5,  3.0|
  printf("%-5.1v2hlf|%+v2hle|%#.0v2hlG\n", f4.xy, f4.xy, f4.zw);  // prints: 0.0  ,1.0  |+0.000000e+00,+1.000000e+00|-2.,3.
  printf("%v2hla|%v2hlA|%v2hlg\n", f4.yz, f4.yz, f4.yz);     // prints: 0x1p+0,-0x1.4p+1|0X1P+0,-0X1.4P+1|1,-2.5
  printf("%v4hf|%v2hg\n", convert_half4(f4), convert_half2(f4.zw));  // prints: 0.000000,1.000000,-2.500000,3.000000|-2.5,3
  printf("%v2lf|%v4lg\n", convert_double2(f4.zw), convert_double4(f4));  // prints: -2.500000,3.000000|0,1,-2.5,3
  printf("%v8hlg %v16hlg\n", (float8)(f4, f4 + 4), (float16)(f4, f4 + 4, f4 + 8, f4 + 12));  // prints: 0,1,-2.5,3,4,5,1.5,7 0,1,-2.5,3,4,5,1.5,7,8,9,5.5,11,12,13,9.5,15
  // integers of every length
  char4 c4 = (char4)(-1, 2, 127, -128) + (char)zero;
  short4 s4 = (short4)(-1, 2, 32767, -32768) + (short)zero;
  int4 i4 = (int4)(-1, 2, INT_MAX, INT_MIN) + zero;
  long2 l2 = (long2)(LONG_MAX, LONG_MIN) + zero;
  printf("%v4hhd|%v4hhi|%v4hhu\n", c4, c4, as_uchar4(c4));   // prints: -1,2,127,-128|-1,2,127,-128|255,2,127,128
  printf("%v4hd|%v4hu\n", s4, as_ushort4(s4));               // prints: -1,2,32767,-32768|65535,2,32767,32768
  printf("%v4hld|%v4hlu\n", i4, as_uint4(i4));               // prints: -1,2,2147483647,-2147483648|4294967295,2,2147483647,2147483648
  printf("%v2ld|%v2lu\n", l2, as_ulong2(l2));                // prints: 9223372036854775807,-9223372036854775808|9223372036854775807,9223372036854775808
  printf("%#v4hhx|%#v2hX|%#v2hlo\n", c4, s4.xy, i4.xy);      // prints: 0xff,0x2,0x7f,0x80|0XFFFF,0X2|037777777777,02
  printf("%v3hhd %v8hhd %v16hhd\n", c4.xyz, (char8)(c4, c4), (char16)(c4, c4, c4, c4));  // prints: -1,2,127 -1,2,127,-128,-1,2,127,-128 -1,2,127,-128,-1,2,127,-128,-1,2,127,-128,-1,2,127,-128
  printf("%04.2v2hld|%+5v2hd|% v2ld\n", i4.xy, s4.xy, l2);   // prints:  -01,  02|   -1,   +2| 9223372036854775807,-9223372036854775808
  // scalars: a length takes what the type has
  printf("%hhd %hhu %hd %hu\n", 300 + zero, 511 + zero, 98304 + zero, -1 + zero);  // prints: 44 255 -32768 65535
  printf("%d %ld %lu %lx %lf\n", -1 + zero, l2.y, as_ulong(l2.y), l2.x, f);  // prints: -1 -9223372036854775808 9223372036854775808 7fffffffffffffff 2.500000
  printf("%5d|%-5d|%05d|%+d|% d|%.3d|%x\n", 42 + zero, 42, 42, 42, 42, 7, 255);  // prints:    42|42   |00042|+42| 42|007|ff
  printf("%f %e %g %a %F %.3f %8.2f|\n", one, one, one, one, one, f, f);  // prints: 1.000000 1.000000e+00 1 0x1p+0 1.000000 2.500     2.50|
  // %c, %s, %%
  printf("%c%c%5c|%-3c| 100%% %%v4hlf\n", 'a' + zero, 'b', 'c', 'd');  // prints: ab    c|d  | 100% %v4hlf
  printf("%s|%5s|%-5s|%.2s|%s\n", "abc", "abc", "abc", "abc", "100%");  // prints: abc|  abc|abc  |ab|100%
  printf("%s %v2hlf %s %d\n", "vector", f4.xy, "between", 7 + zero);  // prints: vector 0.000000,1.000000 between 7
  printf("'\"\\\t|%v2hlg\\\n", f4.xy);                          // prints: '"\	|0,1\
  // no number
  float inf = one / in[0];
  printf("%f %F %e %G %v3hlf\n", inf, inf, -inf, inf, (float3)(inf, -inf, one));  // prints: inf INF -inf INF inf,-inf,1.000000
  printf("%f %F %g %v2hlg|%v2lf\n", fabs(nan(0u)), fabs(nan(0u)), fabs(nan(0u)), fabs((float2)(nan(0u), one)), fabs((double2)(nan(0ul), 1.0)));  // prints: nan NAN nan nan,1|nan,1.000000
  printf("%5v2hlf|%05.1f|%v2hf\n", (float2)(inf, one), inf, (half2)(-INFINITY, 0.5h));  // prints:   inf,1.000000|  inf|-inf,0.500000
  // more values than CUDA's printf takes
  printf("%v16hhd;%v16hhd;%v16hhd;%d\n", (char16)(1), (char16)(2), (char16)(3), 4 + zero);  // prints: 1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1;2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2;3,3,3,3,3,3,3,3,3,3,3,3,3,3,3,3;4
  // 0, and not the number of arguments
  printf("%d\n", printf("%d %v2hld\n", 1 + zero, i4.xy));    // prints: 1 -1,2
  // prints: 0
  // undefined: the conversion is printed as it stands, and what follows is right
  printf("%v5hld %d\n", i4, 5 + zero);                       // prints: %v5hld 5
  printf("%v4hld %d\n", i4.xy, 5 + zero);                    // prints: %v4hld 5
  printf("%v4hld %d\n", f4, 5 + zero);                       // prints: %v4hld 5
  printf("%v2c %v2s %d\n", c4.xy, c4.xy, 5 + zero);          // prints: %v2c %v2s 5
  printf("%d %d\n", f4, 5 + zero);                           // prints: %d 5
  printf("%y %n %d\n", 5 + zero);                            // prints: %y %n 5
  printf("%d %d\n", 5 + zero);                               // prints: 5 %d
  printf("%v4hld\n", i4);                                    // prints: -1,2,2147483647,-2147483648
}
