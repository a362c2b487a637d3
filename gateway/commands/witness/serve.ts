import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { sha256Hex } from '../../../schema/digest.ts';
import { PROOF_LINES_MAX } from '../../../subgraphs/receipt/verify/log-proof.ts';
import { EMPTY_ROOT, verifyConsistency } from '../../../subgraphs/receipt/verify/merkle-proof.ts';
import { base64Hash, decimalIn, NOTE_BYTES_MAX, splitNote } from '../../../subgraphs/receipt/verify/note.ts';
import { checkpointHead } from '../../../subgraphs/receipt/verify/open-checkpoint.ts';
import { OperatorFault } from '../../config/fault.ts';
import type { CosignedHead } from './cosigned-heads.ts';
import type { Cosigner, SignedCheckpoint } from './cosigner.ts';

const REQUEST_MS_MAX = 10_000;
const CONNECTIONS_MAX = 256;
const TEXT = 'text/plain; charset=utf-8';

interface WitnessServerParts {
  readonly cosigner: Cosigner;
  /** Called with status and body of each response to a submission. */
  readonly onAnswer: (status: number, body: string) => void;
}

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly media?: string;
  readonly allow?: string;
}

/** Serves the two paths of a witness (https://c2sp.org/tlog-witness). @throws OperatorFault if it cannot listen */
export async function serveWitness(
  served: WitnessServerParts,
  { host, port }: { host: string; port: number },
): Promise<Server> {
  const server = createServer(
    { requestTimeout: REQUEST_MS_MAX, headersTimeout: REQUEST_MS_MAX },
    (request, response) => {
      answerTo(request, served).then(
        answer => send(response, answer),
        fault => {
          console.error(`A submission could not be checked: ${fault instanceof Error ? fault.message : fault}`);
          send(response, { status: 500, body: 'The submission could not be checked.\n' });
        },
      );
    },
  );
  server.maxConnections = CONNECTIONS_MAX;
  await new Promise<void>((resolve, reject) => {
    server.once('error', ({ code }: NodeJS.ErrnoException) =>
      reject(new OperatorFault(`cannot listen on ${host}:${port} (${code}); use another --port or --host`)),
    );
    server.listen(port, host, resolve);
  });
  return server;
}

async function answerTo(request: IncomingMessage, { cosigner, onAnswer }: WitnessServerParts): Promise<Answer> {
  const [path] = (request.url ?? '').split('?');
  if (path === `/${sha256Hex(cosigner.origin)}/checkpoint`) {
    if (request.method !== 'GET') return { status: 405, body: '', allow: 'GET' };
    const newest = await cosigner.newest();
    return newest ? { status: 200, body: newest.note } : { status: 404, body: 'No checkpoint is cosigned yet.\n' };
  }
  if (path !== '/add-checkpoint') return { status: 404, body: 'Not found.\n' };
  if (request.method !== 'POST') return { status: 405, body: '', allow: 'POST' };
  const text = await textOf(request);
  if (text === null) return { status: 400, body: 'The body is not a valid add-checkpoint request.\n' };
  const { status, body } = await addCheckpoint(text, cosigner);
  onAnswer(status, body);
  return { status, body, media: status === 409 ? SIZE_MEDIA : TEXT };
}

/** Text of the body; null if it is not UTF-8 or too long. The rest of a body that is too long is not read. */
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
  // If part of the request was not read, the connection is closed. Otherwise that part would be taken for the next request.
  const close = response.req.complete ? {} : { connection: 'close' };
  response.writeHead(status, { 'content-type': media, ...(allow && { allow }), ...close });
  response.end(body);
}

/** Maximum length of the line with the old size, the proof lines and the note together. */
const SUBMISSION_BYTES_MAX = NOTE_BYTES_MAX + 4_096;

interface Submission {
  readonly old_size: number;
  readonly proof: readonly Buffer[];
  /** A signed note, not yet verified. */
  readonly note: string;
}

/** Response of add-checkpoint (https://c2sp.org/tlog-witness). */
interface SubmissionAnswer {
  readonly status: 200 | 400 | 403 | 404 | 409 | 422;
  readonly body: string;
}

const SIZE_MEDIA = 'text/x.tlog.size';

/** Cosigns a checkpoint that a log submits with a proof. CosignedHeads checks and stores it in one step. */
async function addCheckpoint(text: string, cosigner: Cosigner): Promise<SubmissionAnswer> {
  const submission = submissionIn(text);
  if (submission === null) return refusal(400, 'The body is not a valid add-checkpoint request.');
  const { note, old_size } = submission;
  const split = splitNote(note);
  const claimed = split && checkpointHead(split.text);
  if (!claimed) return refusal(400, 'The note is not a checkpoint.');
  if (claimed.origin !== cosigner.origin) return refusal(404, `This witness only cosigns the log ${cosigner.origin}.`);
  const opened = cosigner.open(note);
  if (opened.kind !== 'signed') return refusal(403, 'The checkpoint has no valid signature of a trusted key.');
  if (old_size > opened.head.size) return refusal(400, 'The old size is larger than the checkpoint.');
  for (;;) {
    const newest = await cosigner.newest();
    if (old_size !== (newest?.size ?? 0)) return { status: 409, body: `${newest?.size ?? 0}\n` };
    if (!isExtension(submission, opened, newest)) return refuseContradiction(submission, opened, newest, cosigner);
    const cosignature = await cosigner.cosign(newest, opened);
    if (cosignature !== null) return { status: 200, body: cosignature };
  }
}

function submissionIn(text: string): Submission | null {
  const blank = text.indexOf('\n\n');
  if (blank < 0) return null;
  const [old = '', ...lines] = text.slice(0, blank).split('\n');
  const old_size = old.startsWith('old ') ? decimalIn(old.slice('old '.length)) : null;
  const proof = lines.map(base64Hash).filter(hash => hash !== null);
  if (old_size === null || proof.length !== lines.length || proof.length > PROOF_LINES_MAX) return null;
  return { old_size, proof, note: text.slice(blank + 2) };
}

/**
 * Whether the checkpoint extends the newest cosigned one (RFC 6962 section 2.1.2). An empty tree has the hash of the empty string
 * and needs no proof.
 */
function isExtension({ proof }: Submission, { head }: SignedCheckpoint, newest: CosignedHead | null): boolean {
  if (head.size === 0 && !head.root.equals(EMPTY_ROOT)) return false;
  const old = { old_size: newest?.size ?? 0, old_root: newest?.root ?? EMPTY_ROOT };
  return verifyConsistency({ ...old, size: head.size, root: head.root }, proof);
}

/**
 * Refuses a checkpoint without a valid proof. An invalid proof is no evidence against the log, because anyone may send one. Two
 * signed roots of the same size are evidence and are stored.
 */
async function refuseContradiction(
  { note }: Submission,
  { head }: SignedCheckpoint,
  newest: CosignedHead | null,
  cosigner: Cosigner,
): Promise<SubmissionAnswer> {
  const forked = newest !== null && newest.size === head.size && !newest.root.equals(head.root);
  if (forked) await cosigner.keepFork(newest, note, head, null);
  return refusal(422, `The proof does not show that this checkpoint extends the one of ${newest?.size ?? 0} leaves.`);
}

function refusal(status: 400 | 403 | 404 | 422, sentence: string): SubmissionAnswer {
  return { status, body: `${sentence}\n` };
}
