import type { IncomingMessage } from 'node:http';
import { readForm } from './media/form.ts';
import { readJson } from './media/json.ts';
import type { Body } from './media/reading.ts';
import type { Upload } from './port.ts';

export const emptyBody: Body = { kind: 'json', value: {} };

/** RFC 9112 6.3: a request has a body where it says a length or a transfer coding. */
function declaresBody(request: IncomingMessage): boolean {
  const length = request.headers['content-length'];
  return request.headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

/** What a door's body may be. */
export type Taken = 'application/json' | 'multipart/form-data';

interface Reader {
  readonly is: RegExp;
  read(request: IncomingMessage, bytes_max: number, upload: Upload): Promise<Body>;
}

const readers: Readonly<Record<Taken, Reader>> = {
  'application/json': {
    is: /^application\/(?:[\w.!#$&^-]+\+)?json\s*(?:;\s*charset="?utf-8"?\s*)?$/i,
    read: readJson,
  },
  'multipart/form-data': { is: /^multipart\/form-data\s*(?:;|$)/i, read: readForm },
};

/** What a door says of its bodies. */
interface Bodies {
  readonly takes: Taken;
  readonly body_bytes_max: number;
}

/** As many as it says, or where it does not, as many as it may have. */
export function expectedBytes({ headers }: IncomingMessage, bytes_max: number): number {
  const said = headers['content-length'];
  if (said === undefined) return headers['transfer-encoding'] === undefined ? 0 : bytes_max;
  return Math.min(Number(said), bytes_max);
}

/** Reads an object; no body is an empty one. What is too large is left unread from the limit on. */
export async function readBody(
  request: IncomingMessage,
  { takes, body_bytes_max }: Bodies,
  upload: Upload,
): Promise<Body> {
  if (!declaresBody(request)) return emptyBody;
  const { 'content-type': type = '', 'content-encoding': coding = 'identity' } = request.headers;
  const { is, read } = readers[takes];
  if (is.test(type) && coding === 'identity') return read(request, body_bytes_max, upload);
  return { kind: 'refused', code: 'unsupported_media_type', detail: `The body must be ${takes}.` };
}
