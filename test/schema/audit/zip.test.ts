import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { filesInZip, isZip, zipOf } from '../../../schema/audit/zip.ts';

const name = fc
  .array(
    fc.stringMatching(/^[\w.-]{1,12}$/).filter(part => part !== '.' && part !== '..'),
    { minLength: 1, maxLength: 3 },
  )
  .map(parts => parts.join('/'));
const files = fc.uniqueArray(fc.record({ name, bytes: fc.uint8Array({ maxLength: 200 }) }), {
  selector: file => file.name,
  minLength: 1,
  maxLength: 8,
});

describe('an archive of stored files', () => {
  it('is read as it was made', () => {
    fc.assert(
      fc.property(files, packed => {
        const archive = zipOf(packed);
        expect(isZip(archive)).toBe(true);
        expect([...(filesInZip(archive) ?? [])].map(([path, bytes]) => [path, [...bytes]])).toEqual(
          packed.map(({ name: path, bytes }) => [path, [...bytes]]),
        );
      }),
    );
  });

  it('the same files make the same archive, as other programs make it', () => {
    const archive = Buffer.from(zipOf([{ name: 'a.txt', bytes: Buffer.from('123456789') }]));
    // CRC-32 of these nine digits is the check value of its catalogue.
    expect(archive.readUInt32LE(14)).toBe(0xcbf43926);
    expect(archive.toString('hex')).toBe(
      Buffer.from(zipOf([{ name: 'a.txt', bytes: Buffer.from('123456789') }])).toString('hex'),
    );
  });

  it('with a byte flipped, added or taken away is none', () => {
    const archive = zipOf([
      { name: 'a/b.json', bytes: Buffer.from('{"a":1}') },
      { name: 'c', bytes: Buffer.from('two') },
    ]);
    for (let at = 0; at < archive.length * 8; at++) {
      const flipped = Uint8Array.from(archive);
      flipped[at >> 3] = (flipped[at >> 3] ?? 0) ^ (1 << (at & 7));
      expect(filesInZip(flipped), `bit ${at}`).toBeNull();
    }
    for (const other of [
      archive.subarray(1),
      archive.subarray(0, -1),
      Buffer.concat([archive, Buffer.of(0)]),
      Buffer.concat([Buffer.of(0), archive]),
    ])
      expect(filesInZip(other)).toBeNull();
  });

  it('holds no path that leads elsewhere, and no name twice', () => {
    for (const path of ['../a', 'a/..', './a', '/a', 'a//b', 'a/', 'a\\b', ''])
      expect(() => zipOf([{ name: path, bytes: new Uint8Array() }])).toThrow(RangeError);
    const file = { name: 'a', bytes: new Uint8Array() };
    expect(filesInZip(zipOf([file, file]))).toBeNull();
  });
});
