import { promisify } from 'node:util';
import { brotliCompress, constants, crc32, deflateRaw, deflateRawSync } from 'node:zlib';
import type { PackedForms } from '../../problem.ts';

const inDeflate = promisify(deflateRaw);
const inBrotli = promisify(brotliCompress);

/**
 * A long text that is the start of many responses, which differ only in a short end. It is encoded and compressed once, and each end is
 * appended to the compressed form, because compressing a list of all tools takes tens of milliseconds.
 */
export class CompressedStart {
  readonly #plain: Buffer;
  readonly #crc: number;
  #gzip: Promise<Buffer> | undefined;
  #br: Promise<Buffer> | undefined;

  constructor(text: string) {
    this.#plain = Buffer.from(text);
    this.#crc = crc32(this.#plain);
  }

  /** The forms of the text with this end. */
  endingIn(text: string): PackedForms {
    const end = Buffer.from(text);
    if (end.length === 0 || end.length > END_BYTES_MAX) throw new RangeError('the end is of another length');
    return {
      plain: Buffer.concat([this.#plain, end]),
      in: coding => (coding === 'gzip' ? this.#inGzip(end) : this.#inBrotli(end)),
    };
  }

  /** RFC 1952 2.3: header, deflate blocks, CRC-32 and length of the plain text. After a sync flush, blocks begin at a byte. */
  async #inGzip(end: Buffer): Promise<Buffer> {
    this.#gzip ??= inDeflate(this.#plain, { finishFlush: constants.Z_SYNC_FLUSH });
    const trailer = Buffer.alloc(8);
    trailer.writeUInt32LE(crc32(end, this.#crc), 0);
    trailer.writeUInt32LE(this.#plain.length + end.length, 4);
    return Buffer.concat([GZIP_HEADER, await this.#gzip, deflateRawSync(end), trailer]);
  }

  /** RFC 7932 9.2: after a flush, an uncompressed meta-block holds the end, and an empty last one closes the stream. */
  async #inBrotli(end: Buffer): Promise<Buffer> {
    this.#br ??= inBrotli(this.#plain, {
      finishFlush: constants.BROTLI_OPERATION_FLUSH,
      params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY },
    });
    const header = Buffer.alloc(3);
    // ISLAST 0 (1 bit), MNIBBLES 0 for four (2 bits), MLEN - 1 (16 bits), ISUNCOMPRESSED 1 (1 bit).
    header.writeUIntLE(((end.length - 1) << 3) | (1 << 19), 0, 3);
    return Buffer.concat([await this.#br, header, end, Buffer.of(0b11)]);
  }
}

/** A length of four nibbles. */
export const END_BYTES_MAX = 0x1_00_00;

/** Deflate, no flags, no time, unknown system. */
const GZIP_HEADER = Buffer.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff);

/** Of 11. The highest three levels would take half a second for a few percent. */
const BROTLI_QUALITY = 8;
