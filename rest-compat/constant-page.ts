import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { limits } from '../schema/limits.ts';
import type { PageDoor, RestLayer } from './door.ts';
import type { Port } from './port.ts';
import type { Answer, CompressedForms } from './problem.ts';

const made = new WeakMap<Port, Map<PageDoor, Promise<Answer>>>();

/**
 * A page that does not change while the service runs. It is made on first use, once for all that request it meanwhile, and stored with its
 * ETag and compressed forms: describing all endpoints takes a tenth of a second and each compression some milliseconds, and these requests
 * are free. One that could not be made is made again.
 */
export function constantPage(door: PageDoor, layer: RestLayer, make: () => Promise<Answer>): Promise<Answer> {
  const pages = made.get(layer.port) ?? new Map<PageDoor, Promise<Answer>>();
  made.set(layer.port, pages);
  const known = pages.get(door);
  if (known) return known;
  const page = make().then(withForms);
  pages.set(door, page);
  page.catch(() => pages.delete(door));
  return page;
}

function withForms(answer: Answer): Answer {
  const { body } = answer;
  const isLong = typeof body === 'string' && Buffer.byteLength(body) >= limits.compressed_answer_bytes_min;
  return isLong ? { ...answer, compressed_forms: compressedForms(body) } : answer;
}

/** Asynchronous compression, which runs on another thread. */
const coders: Readonly<Record<Parameters<CompressedForms['in']>[0], (text: string) => Promise<Buffer>>> = {
  gzip: promisify(gzip),
  br: text => promisify(brotliCompress)(text, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }),
};

/** Of 11. The highest three levels would take half a second for a few percent. */
const BROTLI_QUALITY = 8;

function compressedForms(text: string): CompressedForms {
  const forms = new Map<string, Promise<Buffer>>();
  return {
    // Encoding a megabyte of text takes some milliseconds each time.
    plain: Buffer.from(text),
    in(coding) {
      const form = forms.get(coding) ?? coders[coding](text);
      forms.set(coding, form);
      return form;
    },
  };
}
