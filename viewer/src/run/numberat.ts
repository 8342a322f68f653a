// Reads a number of a scalar type from bytes.

export function numberAt(d: DataView, at: number, s: string): number {
  switch (s) {
    case "i8":
      return d.getInt8(at);
    case "u8":
    case "bool":
      return d.getUint8(at);
    case "i16":
      return d.getInt16(at, true);
    case "u16":
      return d.getUint16(at, true);
    case "i32":
      return d.getInt32(at, true);
    case "u32":
      return d.getUint32(at, true);
    case "i64":
      return Number(d.getBigInt64(at, true));
    case "u64":
    case "ptr":
      return Number(d.getBigUint64(at, true));
    case "f64":
      return d.getFloat64(at, true);
    case "f32":
      return d.getFloat32(at, true);
    case "f16": {
      const h = d.getUint16(at, true);
      const e = (h >> 10) & 31;
      const f = h & 1023;
      const g = h & 0x8000 ? -1 : 1;
      return e === 31
        ? f
          ? NaN
          : g * Infinity
        : e
          ? g * (1024 + f) * 2 ** (e - 25)
          : g * f * 2 ** -24;
    }
    default: {
      const x = new DataView(new ArrayBuffer(4));
      x.setUint32(0, (d.getUint16(at, true) << 16) >>> 0, true);
      return x.getFloat32(0, true);
    }
  }
}
