// Aligns two lists of keys: the shortest way from one to the other (Myers).

// Furthest points of each number of differences.
interface Ways {
  ways: Int32Array[];
  mid: number; // index of diagonal 0
}
// The way back from the ends of both lists, after d differences.
function pairsBack({ ways, mid }: Ways, d: number, n: number, m: number): [number, number][] {
  const out: [number, number][] = [];
  let px = n;
  let py = m;
  for (let e = d; px > 0 || py > 0; e--) {
    const w = ways[e];
    const q = px - py;
    const down = q === -e || (q !== e && w[mid + q - 1] < w[mid + q + 1]);
    const from = e ? (down ? q + 1 : q - 1) : 0;
    const fx = e ? w[mid + from] : 0;
    const fy = e ? fx - from : 0;
    while (px > fx + (e && !down ? 1 : 0) && py > fy + (e && down ? 1 : 0)) out.push([--px, --py]);
    if (e) {
      if (down) out.push([-1, --py]);
      else out.push([--px, -1]);
    }
  }
  return out.reverse();
}

// Pairs of indexes, -1 where one side has nothing. Gives up after `most` differences and then pairs
// by index.
export function align(a: string[], b: string[], most = 400): [number, number][] {
  const n = a.length;
  const m = b.length;
  const ways: Int32Array[] = [];
  const mid = most + 1;
  const v = new Int32Array(2 * most + 3).fill(-1);
  v[mid + 1] = 0;
  for (let d = 0; d <= most; d++) {
    ways.push(v.slice());
    for (let k = -d; k <= d; k += 2) {
      let x =
        k === -d || (k !== d && v[mid + k - 1] < v[mid + k + 1])
          ? v[mid + k + 1]
          : v[mid + k - 1] + 1;
      while (x < n && x - k < m && x - k >= 0 && a[x] === b[x - k]) x++;
      v[mid + k] = x;
      if (x >= n && x - k >= m) return pairsBack({ ways, mid }, d, n, m);
    }
  }
  return Array.from({ length: Math.max(n, m) }, (_, i) => [i < n ? i : -1, i < m ? i : -1]);
}
