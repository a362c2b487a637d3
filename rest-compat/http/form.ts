import type { IncomingMessage } from 'node:http';
import { Busboy, type BusboyFileStream, type BusboyInstance } from '@fastify/busboy';
import type { Json, JsonObject } from '../../schema/canonical-json.ts';
import { limits } from '../../schema/limits.ts';
import type { Body } from '../door-request.ts';
import type { Upload } from '../upload.ts';
import { interruptedError, malformedBody, noRoom, tooLarge } from './body.ts';

/** A boundary has 1 to 70 characters (RFC 2046 5.1.1). */
const BOUNDARY = /;\s*boundary=(?:"[^"\r\n]{1,70}"|[^\s";,]{1,70})/i;

/**
 * Reads a form of one file and some fields while it arrives, and stops where it exceeds a limit. The file goes to `upload`, and the body
 * has its id, name and media type. A field is text; `a[b]` is a member of `a`, `a[]` an item of a list.
 */
export function readForm(request: IncomingMessage, bytes_max: number, upload: Upload): Promise<Body> {
  const { 'content-type': type = '', 'content-length': length = '0' } = request.headers;
  if (!BOUNDARY.test(type))
    return Promise.resolve(malformedBody('The Content-Type of the form has no boundary parameter.'));
  if (Number(length) > bytes_max) return Promise.resolve(tooLarge);
  try {
    return new FormReader(request, bytes_max, upload).read(type);
  } catch {
    return Promise.resolve(malformedBody('The boundary parameter in the Content-Type of the form is not valid.'));
  }
}

class FormReader {
  readonly #request: IncomingMessage;
  readonly #bytes_max: number;
  readonly #upload: Upload;
  readonly #body = Promise.withResolvers<Body>();
  readonly #members = new Map<string, Json>();
  #parser: BusboyInstance | null = null;
  #length = 0;
  #parsed = false;

  constructor(request: IncomingMessage, bytes_max: number, upload: Upload) {
    this.#request = request;
    this.#bytes_max = bytes_max;
    this.#upload = upload;
  }

  read(type: string): Promise<Body> {
    const request = this.#request;
    const parser = this.#open(type);
    this.#parser = parser;
    request
      .on('data', this.#take)
      .once('end', () => (this.#parsed ? this.#whole() : parser.end()))
      .once('error', this.#body.reject)
      .once('close', () => request.complete || this.#body.reject(interruptedError()));
    // The request may have been closed before the listeners were added.
    if (request.destroyed) this.#body.reject(interruptedError());
    return this.#body.promise;
  }

  readonly #take = (chunk: Buffer) => {
    const request = this.#request;
    this.#length += chunk.length;
    if (this.#length > this.#bytes_max) this.#end(tooLarge);
    if (!this.#parser || this.#parser.write(chunk)) return;
    request.pause();
    this.#parser?.once('drain', () => request.resume());
  };

  #open(type: string): BusboyInstance {
    const parser = new Busboy({
      headers: { 'content-type': type },
      limits: {
        files: 1,
        fileSize: limits.upload_file_bytes_max,
        fields: limits.upload_fields_max,
        parts: limits.upload_fields_max + 1,
        fieldSize: limits.upload_field_bytes_max,
        headerPairs: 16,
        headerSize: 4 * 1024,
      },
    });
    return parser
      .on('file', (name, file, file_name, _encoding, media_type) => this.#file(name, file, file_name, media_type))
      .on('field', (name, text, _cut, cut_off) => this.#field(name, text, cut_off))
      .on('filesLimit', () => this.#end(malformedBody('A form brings one file.')))
      .on('fieldsLimit', () => this.#end(tooMany))
      .on('partsLimit', () => this.#end(tooMany))
      .on('error', () => this.#end(malformedBody('The form is incomplete or malformed.')))
      .on('finish', () => {
        // The last boundary may have been followed by more data.
        this.#parsed = true;
        if (this.#request.readableEnded) this.#whole();
      });
  }

  #file(name: string | undefined, file: BusboyFileStream, file_name: string | undefined, media_type: string): void {
    this.#put(name, { upload: this.#upload.id, name: file_name ?? '', media_type });
    let length = 0;
    file
      .on('data', (piece: Buffer) => {
        length += piece.length;
        if (this.#parser && !this.#upload.take(piece)) this.#end(noRoom);
      })
      .on('end', () => length > 0 || this.#end(malformedBody('The file is empty.')))
      .on('limit', () => this.#end(tooLarge))
      .on('error', () => {});
  }

  #field(name: string | undefined, text: string, cut_off: boolean): void {
    if (cut_off) this.#end(tooLarge);
    else this.#put(name, text);
  }

  #put(name: string | undefined, member: Json): void {
    const known = this.#members.get(name ?? '');
    if (!name) this.#end(malformedBody('A field of the form has no name.'));
    else if (name.endsWith('[]')) this.#members.set(name, [...((known as Json[] | undefined) ?? []), member]);
    else if (known === undefined) this.#members.set(name, member);
    else this.#end(malformedBody(`The form has the field ${name.slice(0, 64)} twice.`));
  }

  #whole(): void {
    this.#end({ kind: 'json', value: nestMembers(this.#members) });
  }

  /** The rest stays unread and the socket open, because the refusal is sent on it. */
  #end(body: Body): void {
    if (this.#parser === null) return;
    this.#parser.removeAllListeners('drain');
    this.#parser = null;
    this.#request.off('data', this.#take);
    if (!this.#request.readableEnded) this.#request.pause();
    this.#body.resolve(body);
  }
}

function nestMembers(members: ReadonlyMap<string, Json>): JsonObject {
  const whole = new Map<string, Json>();
  for (const [name, member] of members) {
    const [, outer = name, inner] = name.match(/^([^[\]]+)\[([^[\]]*)\]$/) ?? [];
    if (!inner) whole.set(outer, member);
    // A field cannot change the file's own members, such as its id and name.
    else if (!members.has(outer))
      whole.set(outer, Object.fromEntries([...Object.entries(whole.get(outer) ?? {}), [inner, member]]));
  }
  // An assignment would fail for a member `__proto__`.
  return Object.fromEntries(whole);
}

const tooMany = malformedBody('The form has too many fields.');
