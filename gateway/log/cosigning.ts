import type { Logger } from 'pino';
import { Agent, request } from 'undici';
import type { Database } from '../../subgraphs/database.ts';
import type { Issuer } from '../../subgraphs/receipt/issuer/signing-keys.ts';
import { checkpoint } from '../../subgraphs/receipt/log/checkpoint.ts';
import {
  keepCosignature,
  lastCosigned,
  noteWitness,
  type WitnessStanding,
  type WitnessTrouble,
  witnessStandings,
} from '../../subgraphs/receipt/log/cosignatures.ts';
import { consistencyProof } from '../../subgraphs/receipt/log/stored-proofs.ts';
import type { HeadName } from '../../subgraphs/receipt/log/tree-head.ts';
import { decimalIn } from '../../subgraphs/receipt/verify/note.ts';
import { openNote } from '../../subgraphs/receipt/verify/open-checkpoint.ts';
import { type VerifierKey, verifierKey } from '../../subgraphs/receipt/verify/verifier-key.ts';
import type { WitnessConfig } from '../config/variables.ts';

export interface CosigningParts {
  readonly database: Database;
  readonly issuer: Issuer;
  readonly witnesses: readonly LogWitness[];
  readonly logger: Logger;
  /** Called with a head that the log must extend. Halts the log if it does not. */
  readonly meet: (head: HeadName) => Promise<void>;
}

/** Pause after a failure of a witness. It doubles with each failure, up to the maximum. */
const REST_MS = 2_000;
const REST_MS_MAX = 300_000;

/** Result of a submission: the size from which the witness continues, and a cosignature or the reason why there is none. */
interface Outcome {
  readonly old_size: number;
  readonly line?: string;
  readonly trouble?: WitnessTrouble;
  readonly why?: string;
}

/**
 * Asks each witness to cosign the newest head. Responses are verified before they are stored. A witness that is unreachable, slow or wrong
 * delays other witnesses by a few seconds, and never delays paid calls. If a witness reports a fork, a fatal message is logged, and the log
 * is compared with the last head that this witness has cosigned, which halts the log if they disagree.
 */
export class Cosigning {
  readonly #parts: CosigningParts;
  readonly #resting = new Map<string, { readonly until_ms: number; readonly rest_ms: number }>();

  constructor(parts: CosigningParts) {
    this.#parts = parts;
  }

  /** Whether any witness is configured. */
  get asked(): boolean {
    return this.#parts.witnesses.length > 0;
  }

  /** Submits the newest head to all witnesses at once. @throws if the database is unreachable */
  async round(): Promise<void> {
    const { database, issuer, witnesses } = this.#parts;
    const awake = witnesses.filter(({ key }) => (this.#resting.get(key.text)?.until_ms ?? 0) <= performance.now());
    if (awake.length === 0) return;
    const newest = await checkpoint({ database, issuer, witnesses: [] });
    if (newest.kind !== 'known' || newest.head.tree_size === 0) return;
    const texts = awake.map(({ key }) => key.text);
    const standings = await witnessStandings(database, texts);
    const done = await Promise.allSettled(
      awake.map((witness, at) => this.#ask(witness, newest, standings[at] ?? null)),
    );
    const faults = done.flatMap(one => (one.status === 'rejected' ? [one.reason] : []));
    if (faults.length > 0) throw faults.length === 1 ? faults[0] : new AggregateError(faults);
  }

  async #ask(witness: LogWitness, newest: NewestHead, standing: WitnessStanding | null): Promise<void> {
    if (standing === null || (standing.cosigned_size >= newest.head.tree_size && standing.trouble === null)) return;
    const { database } = this.#parts;
    const { old_size, line, trouble, why } = await this.#submit(witness, newest, standing.old_size);
    if (line !== undefined) await keepCosignature(database, newest.head, { witness: witness.key.text, line });
    else if (standing.trouble !== (trouble ?? null) || standing.old_size !== old_size)
      await noteWitness(database, { witness: witness.key.text, old_size, trouble: trouble ?? null });
    this.#rest(witness, trouble);
    if (trouble !== (standing.trouble ?? undefined)) this.#report(witness, trouble, why);
    if (trouble === 'refused') await this.#holdTo(witness);
  }

  /**
   * Submits a head to a witness. If the witness continues from another size, the head is submitted once more with the proof from that size.
   */
  async #submit({ url, key }: LogWitness, { head, note }: NewestHead, known_size: number): Promise<Outcome> {
    const { database } = this.#parts;
    let old_size = known_size;
    for (let tries = 0; tries < 2; tries++) {
      if (old_size > head.tree_size) return this.#ahead(old_size);
      const proof = await consistencyProof(database, old_size, head.tree_size);
      const submitted = await submitHead(url, { old_size, proof, note });
      if (submitted.kind !== 'conflict') return outcomeOf(submitted, old_size, note, key);
      old_size = submitted.size;
    }
    // Another process has submitted a head in the meantime.
    return old_size > head.tree_size ? this.#ahead(old_size) : { old_size };
  }

  /**
   * Decides whether a witness has cosigned more leaves than the log has. Another process may have submitted a newer head, so the newest
   * head is read again.
   */
  async #ahead(old_size: number): Promise<Outcome> {
    const { database, issuer } = this.#parts;
    const newest = await checkpoint({ database, issuer, witnesses: [] });
    if (newest.kind !== 'known' || old_size <= newest.head.tree_size) return { old_size };
    const why = `it has cosigned ${old_size} leaves, but this log has only ${newest.head.tree_size}`;
    return { old_size: 0, trouble: 'ahead', why };
  }

  /**
   * Compares the log with the last head that this witness has cosigned. If the log does not extend it, the witness is right and nothing
   * more may be appended.
   */
  async #holdTo({ key }: LogWitness): Promise<void> {
    const head = await lastCosigned(this.#parts.database, key.text);
    if (head) await this.#parts.meet(head);
  }

  #rest({ key }: LogWitness, trouble: WitnessTrouble | undefined): void {
    if (trouble === undefined) return void this.#resting.delete(key.text);
    const rest_ms = Math.min((this.#resting.get(key.text)?.rest_ms ?? REST_MS / 2) * 2, REST_MS_MAX);
    this.#resting.set(key.text, { rest_ms, until_ms: performance.now() + rest_ms });
  }

  /** Logs a change of a witness's trouble once, and not in each round. */
  #report({ key }: LogWitness, trouble: WitnessTrouble | undefined, why?: string): void {
    const { logger } = this.#parts;
    if (trouble === undefined) logger.info({ witness: key.name }, 'the witness cosigns checkpoints of the log again');
    else logger[levels[trouble]]({ witness: key.name, why }, sentences[trouble]);
  }
}

interface NewestHead {
  readonly head: HeadName;
  readonly note: string;
}

/** Outcome of a submission. Only a signature of this witness over this checkpoint counts. */
function outcomeOf(
  submitted: Exclude<WitnessAnswer, { kind: 'conflict' }>,
  old_size: number,
  note: string,
  key: LogWitness['key'],
): Outcome {
  if (submitted.kind === 'answered') {
    const opened = openNote(note + submitted.lines, [key]);
    const line = opened.kind === 'signed' ? opened.signatures[0]?.line : undefined;
    return line === undefined ? { old_size, trouble: 'lied', why: opened.kind } : { old_size, line };
  }
  if (submitted.kind === 'away') return { old_size, trouble: 'away', why: submitted.why };
  if (submitted.kind === 'unknown_log')
    return { old_size, trouble: 'unknown_log', why: `it responded with HTTP ${submitted.status}` };
  return { old_size, trouble: 'refused' };
}

const levels = { refused: 'fatal', ahead: 'error', lied: 'error', unknown_log: 'warn', away: 'warn' } as const;

const sentences: Readonly<Record<WitnessTrouble, string>> = {
  refused:
    'a witness reports that the log has forked. Ask its operator for both checkpoints and the leaf that differs. The log is being compared with what that witness has cosigned',
  ahead: 'a witness has cosigned more leaves than this log holds. Check whether an older database was restored',
  lied: 'a witness responded without a valid cosignature of its own; the response is discarded',
  unknown_log: 'a witness does not know this log or its key. Give its operator the URL and /log/verifier-keys',
  away: 'a witness does not respond; checkpoints are published without its cosignature',
};

/** A witness's response to a checkpoint (https://c2sp.org/tlog-witness), not yet verified. */
type WitnessAnswer =
  /** The response has signature lines. */
  | { readonly kind: 'answered'; readonly lines: string }
  /** The witness continues from another size. */
  | { readonly kind: 'conflict'; readonly size: number }
  /** The witness reports that the checkpoint does not extend what it has cosigned. */
  | { readonly kind: 'refused' }
  /** The witness follows another log or has none of its keys. */
  | { readonly kind: 'unknown_log'; readonly status: number }
  | { readonly kind: 'away'; readonly why: string };

const CONNECT_MS = 3_000;
const ANSWER_MS = 5_000;
const ANSWER_BYTES_MAX = 64 * 1024;
/** Time after which an idle connection is closed. It is short, so that connections do not keep a process alive. */
const IDLE_MS = 4_000;

const dispatcher = new Agent({
  connect: { timeout: CONNECT_MS },
  keepAliveTimeout: IDLE_MS,
  maxResponseSize: ANSWER_BYTES_MAX,
});

interface SubmittedHead {
  readonly old_size: number;
  /** Hashes that prove that the tree of size `old_size` is a prefix of the checkpoint's tree. */
  readonly proof: readonly Buffer[];
  readonly note: string;
}

/** Submits a checkpoint to a witness. Time and size are limited, and redirects are not followed. Never throws. */
async function submitHead(url: string, { old_size, proof, note }: SubmittedHead): Promise<WitnessAnswer> {
  const lines = [`old ${old_size}`, ...proof.map(hash => hash.toString('base64')), '', note];
  try {
    const { statusCode, headers, body } = await request(`${url}/add-checkpoint`, {
      method: 'POST',
      body: lines.join('\n'),
      dispatcher,
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    return witnessAnswerOf(statusCode, String(headers['content-type'] ?? ''), await body.text());
  } catch (fault) {
    return { kind: 'away', why: fault instanceof Error ? fault.message : String(fault) };
  }
}

function witnessAnswerOf(status: number, media: string, text: string): WitnessAnswer {
  if (status === 200) return { kind: 'answered', lines: text };
  if (status === 422) return { kind: 'refused' };
  if (status === 403 || status === 404) return { kind: 'unknown_log', status };
  const size = status === 409 && media.startsWith('text/x.tlog.size') ? decimalIn(text.replace(/\n$/, '')) : null;
  return size === null ? { kind: 'away', why: `it responded with HTTP ${status}` } : { kind: 'conflict', size };
}

/** A witness to which the log's heads are submitted. */
interface LogWitness {
  readonly url: string;
  readonly key: VerifierKey;
}

/** Witnesses of the configuration, whose keys have been validated before. Empty if none are configured. */
export function openWitnesses(witnesses: readonly WitnessConfig[] | null): LogWitness[] {
  return (witnesses ?? []).flatMap(({ url, key: text }) => {
    const key = verifierKey(text);
    return key ? [{ url, key }] : [];
  });
}
