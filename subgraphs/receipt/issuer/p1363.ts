const SCALAR_BYTES = 32;
const INTEGER = 0x02;

/**
 * A P-256 signature as OpenSSL writes it, `SEQUENCE {INTEGER r, INTEGER s}` in DER, with r and s side by side in 32 bytes
 * each (IEEE P1363). @throws where it is anything else.
 */
export function p1363(der: Uint8Array): Buffer {
  const out = Buffer.alloc(2 * SCALAR_BYTES);
  // Both are shorter than 128 bytes, so each length is one byte, and so is that of the sequence.
  const s_at = place(der, 2, out, SCALAR_BYTES);
  const end = place(der, s_at, out, 2 * SCALAR_BYTES);
  if (der[0] !== 0x30 || der[1] !== der.length - 2 || end !== der.length) throw new RangeError('not a P-256 signature');
  return out;
}

/** Writes the integer at `at` so that it ends at `end`, and says where the next begins. */
function place(der: Uint8Array, at: number, out: Buffer, end: number): number {
  const length = der[at + 1] ?? 0;
  const from = at + 2;
  // DER integers are signed: one whose first bit is set has a zero before it, and leading zeros are left out.
  const padding = length === SCALAR_BYTES + 1 && der[from] === 0 ? 1 : 0;
  if (der[at] !== INTEGER || length === 0 || length - padding > SCALAR_BYTES)
    throw new RangeError('not a P-256 signature');
  out.set(der.subarray(from + padding, from + length), end - (length - padding));
  return from + length;
}
