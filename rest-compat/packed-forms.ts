import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { PackedForms } from './problem.ts';

/** Compression runs on another thread. */
const coders: Readonly<Record<Parameters<PackedForms['in']>[0], (text: string) => Promise<Buffer>>> = {
  gzip: promisify(gzip),
  br: text => promisify(brotliCompress)(text, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }),
};

/** Of 11. Higher levels take several times as long for a few percent. */
const BROTLI_QUALITY = 5;

/** The forms of a text, each made on first use. */
export function packedForms(text: string): PackedForms {
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
