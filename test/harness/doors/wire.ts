import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { atEnd } from '../release.ts';

/** The head of an answer, as it was received. */
export interface ResponseHead {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  /** Bytes of the status line, all headers and the empty line, including line ends. */
  readonly bytes: number;
  readonly text: string;
}

/** The message that Node publishes on each answer before fetch parses its headers. */
interface HeadersMessage {
  readonly request: { readonly origin: string; readonly method: string; readonly path: string };
  readonly response: { readonly statusCode: number; readonly statusText: string; readonly headers: readonly Buffer[] };
}

/** Records the head of every answer that any client in this process receives from that origin. */
export function listenToWire(origin: string) {
  let heads: ResponseHead[] = [];
  const hear = (published: unknown) => {
    const { request, response } = published as HeadersMessage;
    if (String(request.origin) === origin) heads.push(headOf(request, response));
  };
  subscribe('undici:request:headers', hear);
  atEnd(() => void unsubscribe('undici:request:headers', hear));
  return {
    /** Returns the heads since the last call. */
    take(): ResponseHead[] {
      const taken = heads;
      heads = [];
      return taken;
    },
  };
}

function headOf(
  { method, path }: HeadersMessage['request'],
  { statusCode, statusText, headers }: HeadersMessage['response'],
): ResponseHead {
  const texts = headers.map(part => part.toString('latin1'));
  const lines = texts.flatMap((name, at) => (at % 2 === 0 ? [`${name}: ${texts[at + 1]}`] : []));
  const text = [`HTTP/1.1 ${statusCode} ${statusText}`, ...lines, '', ''].join('\r\n');
  return { method, path, status: statusCode, bytes: Buffer.byteLength(text, 'latin1'), text };
}
