import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sha256Hex } from '../../schema/digest.ts';
import { Uploads } from '../../subgraphs/uploads.ts';

const ROOM = 1024 * 1024;
const open = (bytes_max = ROOM, unasked_ms_max = 60_000) => new Uploads({ bytes_max, unasked_ms_max });

describe('uploads', () => {
  it('a file is what was taken of it, however it was cut, and its hash is of that', async () => {
    const pieces = fc.array(fc.uint8Array({ maxLength: 3_000 }), { minLength: 1, maxLength: 100 });
    await fc.assert(
      fc.asyncProperty(pieces, async cut => {
        const uploads = open();
        const upload = uploads.begin('a');
        for (const piece of cut) expect(upload.take(piece)).toBe(true);
        await upload.deliver();
        const whole = Buffer.concat(cut);
        const found = uploads.open('a');
        expect(found?.sha256).toBe(whole.length === 0 ? undefined : sha256Hex(whole));
        expect(found?.bytes.equals(whole)).toBe(whole.length === 0 ? undefined : true);
      }),
    );
  });

  it('all room is there again once all is released, whatever was taken, and twice is once', () => {
    const lengths = fc.array(fc.integer({ min: 0, max: ROOM }), { maxLength: 20 });
    fc.assert(
      fc.property(lengths, held => {
        const uploads = open();
        const begun = held.map((length, index) => {
          const upload = uploads.begin(String(index));
          upload.take(Buffer.alloc(length));
          return upload;
        });
        for (const upload of [...begun, ...begun]) upload.release();
        expect(begun.some(upload => upload.take(Buffer.from('late')))).toBe(false);
        expect(uploads.begin('all').take(Buffer.alloc(ROOM))).toBe(true);
        expect(uploads.begin('more').take(Buffer.alloc(1))).toBe(false);
      }),
      { numRuns: 50 },
    );
  });

  it('who has sent little holds little: a thousand first bytes leave room for a file', () => {
    const uploads = open(2 * ROOM);
    for (let sent = 0; sent < 1_000; sent += 1) expect(uploads.begin(String(sent)).take(Buffer.from('x'))).toBe(true);
    expect(uploads.begin('file').take(Buffer.alloc(ROOM / 2))).toBe(true);
  });

  it('one payer takes his share of the room and one address its own, and gives them back', () => {
    const uploads = new Uploads({ bytes_max: 4 * ROOM, payer_bytes_max: ROOM, address_bytes_max: 2 * ROOM });
    const takes = (payer: string | null, address: string) => {
      const upload = uploads.begin(`${payer} ${address}`, { payer, address });
      return { upload, taken: upload.take(Buffer.alloc(ROOM)) };
    };
    const first = takes('0xa', 'here');
    expect([first.taken, takes('0xa', 'there').taken]).toEqual([true, false]);
    expect([takes('0xb', 'here').taken, takes('0xc', 'here').taken]).toEqual([true, false]);
    expect([takes('0xc', 'there').taken, takes(null, 'there').taken]).toEqual([true, true]);
    expect(takes('0xd', 'elsewhere').taken).toBe(false);
    first.upload.release();
    expect(takes('0xa', 'elsewhere').taken).toBe(true);
  });

  it('of files that come side by side no more are turned away than must be', () => {
    const uploads = open(2 * ROOM);
    const begun = Array.from({ length: 5 }, (_, index) => uploads.begin(String(index)));
    const piece = Buffer.alloc(ROOM / 16);
    const still = new Set(begun);
    for (let taken = 0; taken < ROOM; taken += piece.length) {
      for (const upload of still) if (!upload.take(piece)) still.delete(upload);
    }
    expect([...still].map(({ length }) => length)).toEqual([ROOM, ROOM]);
  });

  it('an id serves once, and only what was delivered', async () => {
    const uploads = open();
    const upload = uploads.begin('a');
    upload.take(Buffer.from('RIFF'));
    expect(uploads.open('a')).toBeNull();
    await upload.deliver();
    expect(uploads.open('b')).toBeNull();
    expect(uploads.open('a')).not.toBeNull();
    expect(uploads.open('a')).toBeNull();
  });

  it('another that begins under the same id, and is turned away, takes nothing away', async () => {
    const uploads = open();
    const upload = uploads.begin('a');
    upload.take(Buffer.from('RIFF'));
    await upload.deliver();
    uploads.begin('a').release();
    expect(uploads.open('a')?.bytes.toString()).toBe('RIFF');
  });

  it('what nobody asks for is let go of, and its room with it', async () => {
    const uploads = open(ROOM, 1);
    const upload = uploads.begin('a');
    upload.take(Buffer.alloc(ROOM / 2));
    await upload.deliver();
    const fits = () => {
      const all = uploads.begin('all');
      const taken = all.take(Buffer.alloc(ROOM));
      all.release();
      return taken;
    };
    await expect.poll(fits).toBe(true);
    expect(uploads.open('a')).toBeNull();
  });
});
