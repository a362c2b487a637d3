import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { sha256Hex } from '../../../schema/digest.ts';
import { OperatorFault } from '../../config/fault.ts';
import type { Cosigner } from './cosigner.ts';
import { addCheckpoint, SIZE_MEDIA, SUBMISSION_BYTES_MAX } from './submission.ts';

const REQUEST_MS_MAX = 10_000;
const CONNECTIONS_MAX = 256;
const TEXT = 'text/plain; charset=utf-8';

interface Served {
  readonly cosigner: Cosigner;
  /** Hears of each submission that was cosigned, and of each that was refused for what it contradicts. */
  readonly answered: (status: number, size_told: string) => void;
}

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly media?: string;
  readonly allow?: string;
}

/** The two paths of a witness (https://c2sp.org/tlog-witness), at one prefix. @throws OperatorFault where it cannot listen */
export async function serveWitness(served: Served, { host, port }: { host: string; port: number }): Promise<Server> {
  const server = createServer(
    { requestTimeout: REQUEST_MS_MAX, headersTimeout: REQUEST_MS_MAX },
    (request, response) => {
      answerTo(request, served).then(
        answer => send(response, answer),
        fault => {
          console.error(`a submission could not be judged: ${fault instanceof Error ? fault.message : fault}`);
          send(response, { status: 500, body: 'it could not be judged\n' });
        },
      );
    },
  );
  server.maxConnections = CONNECTIONS_MAX;
  await new Promise<void>((resolve, reject) => {
    server.once('error', ({ code }: NodeJS.ErrnoException) =>
      reject(new OperatorFault(`${host}:${port} cannot be listened on (${code})`)),
    );
    server.listen(port, host, resolve);
  });
  return server;
}

async function answerTo(request: IncomingMessage, { cosigner, answered }: Served): Promise<Answer> {
  const [path] = (request.url ?? '').split('?');
  if (path === `/${sha256Hex(cosigner.origin)}/checkpoint`) {
    if (request.method !== 'GET') return { status: 405, body: '', allow: 'GET' };
    const newest = await cosigner.newest();
    return newest ? { status: 200, body: newest.note } : { status: 404, body: 'nothing is cosigned yet\n' };
  }
  if (path !== '/add-checkpoint') return { status: 404, body: 'there is nothing here\n' };
  if (request.method !== 'POST') return { status: 405, body: '', allow: 'POST' };
  const text = await textOf(request);
  if (text === null) return { status: 400, body: 'this is no submission of a checkpoint\n' };
  const { status, body } = await addCheckpoint(text, cosigner);
  answered(status, body);
  return { status, body, media: status === 409 ? SIZE_MEDIA : TEXT };
}

/** Null where it is no text, or longer than a submission is. What is left of it is not read. */
async function textOf(request: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > SUBMISSION_BYTES_MAX) return null;
    chunks.push(chunk);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.concat(chunks));
  } catch {
    return null;
  }
}

function send(response: ServerResponse, { status, body, media = TEXT, allow }: Answer): void {
  // A request that was not read to its end leaves its rest on the connection.
  const close = response.req.complete ? {} : { connection: 'close' };
  response.writeHead(status, { 'content-type': media, ...(allow && { allow }), ...close });
  response.end(body);
}
