import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { limits } from '../schema/limits.ts';
import type { Face, PageDoor } from './door.ts';
import type { Port } from './port.ts';
import type { Answer, PackedForms } from './problem.ts';

const made = new WeakMap<Port, Map<PageDoor, Answer>>();

/**
 * A page that says the same for as long as the service runs: made for the first who asks, kept with its name and its
 * compressed forms. To describe all doors takes a tenth of a second, to compress that some milliseconds more each time, and
 * whoever asks for it pays nothing.
 */
export async function lastingPage(door: PageDoor, house: Face, make: () => Promise<Answer>): Promise<Answer> {
  const pages = made.get(house.port) ?? new Map<PageDoor, Answer>();
  made.set(house.port, pages);
  const known = pages.get(door);
  if (known) return known;
  const answer = await make();
  const { body } = answer;
  const isLong = typeof body === 'string' && Buffer.byteLength(body) >= limits.compressed_answer_bytes_min;
  const page = isLong ? { ...answer, packed: packedForms(body) } : answer;
  pages.set(door, page);
  return page;
}

/** Made once, so it may take its time, on another thread: nobody else waits for it. */
const coders: Readonly<Record<Parameters<PackedForms['in']>[0], (text: string) => Promise<Buffer>>> = {
  gzip: promisify(gzip),
  br: text => promisify(brotliCompress)(text, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }),
};

/** Of 11. The best three would take half a second for a few percent. */
const BROTLI_QUALITY = 8;

function packedForms(text: string): PackedForms {
  const forms = new Map<string, Promise<Buffer>>();
  return {
    // To encode a megabyte of text takes some milliseconds each time.
    plain: Buffer.from(text),
    in(coding) {
      const form = forms.get(coding) ?? coders[coding](text);
      forms.set(coding, form);
      return form;
    },
  };
}
