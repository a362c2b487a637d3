import { createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256, sha256Hex } from '../../../schema/digest.ts';
import { type Clock, iso } from '../../../subgraphs/clock.ts';
import { syncFolderOf, writeDurably } from '../../../subgraphs/durable-file.ts';
import {
  type CheckpointHead,
  type OpenedCheckpoint,
  openCheckpoint,
} from '../../../subgraphs/receipt/verify/open-checkpoint.ts';
import { type VerifierKey, verifierKey } from '../../../subgraphs/receipt/verify/verifier-key.ts';
import { keptSecret } from '../../config/data-folder.ts';
import { OperatorFault } from '../../config/fault.ts';
import type { Difference } from './catch-up.ts';
import { type CosignedHead, CosignedHeads, type StepHook } from './cosigned-heads.ts';

/** A checkpoint that the log has signed. */
export type SignedCheckpoint = Extract<OpenedCheckpoint, { kind: 'signed' }>;

/** Cosigns proven checkpoints of one log, and stores them. */
export class Cosigner {
  readonly origin: string;
  readonly #keys: readonly VerifierKey[];
  readonly #key: WitnessKey;
  readonly #heads: CosignedHeads;
  readonly #state: string;
  readonly #clock: Clock;

  constructor(
    log: { readonly origin: string; readonly keys: readonly VerifierKey[] },
    { key, state, clock, reach }: { key: WitnessKey; state: string; clock: Clock; reach: StepHook },
  ) {
    this.origin = log.origin;
    this.#keys = log.keys;
    this.#key = key;
    this.#heads = new CosignedHeads(join(state, 'checkpoints'), key.verifier, reach);
    this.#state = state;
    this.#clock = clock;
  }

  /** Verifies a checkpoint with the trusted keys of this log. */
  open(note: string): OpenedCheckpoint {
    return openCheckpoint(note, this.#keys);
  }

  newest(): Promise<CosignedHead | null> {
    return this.#heads.newest();
  }

  /**
   * Cosigns a checkpoint that was proven to extend `from`, and stores it with the log's verified signatures. Null if another
   * checkpoint was cosigned meanwhile.
   */
  async cosign(from: CosignedHead | null, { text, signatures }: SignedCheckpoint): Promise<string | null> {
    const cosignature = this.#key.cosign(text);
    const note = `${text}\n${signatures.map(({ line }) => line).join('')}${cosignature}`;
    return (await this.#heads.keep(from, note)) ? cosignature : null;
  }

  /**
   * Stores a checkpoint that contradicts the cosigned one, together with the cosigned one. Returns the path, or null if too many
   * are stored.
   */
  keepFork(
    cosigned: CosignedHead,
    found: string,
    head: CheckpointHead,
    difference: Difference | null,
  ): Promise<string | null> {
    const name = `${cosigned.size}-${short(cosigned)}-${head.size}-${short(head)}`;
    const fork = { origin: this.origin, cosigned: cosigned.note, found, difference, at: iso(this.#clock.now_ms()) };
    return keepEvidence(join(this.#state, 'evidence'), name, fork);
  }
}

const short = ({ root }: CheckpointHead) => root.subarray(0, 4).toString('hex');

/** Two checkpoints that the log has signed, neither of which extends the other. */
interface Fork {
  readonly origin: string;
  /** Note of the cosigned checkpoint, with this witness's cosignature. */
  readonly cosigned: string;
  readonly found: string;
  /** First leaf that differs; null if it is unknown. */
  readonly difference: Difference | null;
  /** Time at which the fork was found (ISO 8601). */
  readonly at: string;
}

/** Maximum number of forks that are stored, so that a log that keeps signing forks does not fill the disk. */
const FILES_MAX = 64;

/**
 * Stores a fork, unless it is already stored under that name. Returns its path, or null if FILES_MAX are stored. The same fork
 * always has the same `name`.
 */
async function keepEvidence(folder: string, name: string, fork: Fork): Promise<string | null> {
  const { difference, origin, at, cosigned, found } = fork;
  const path = join(folder, `${name}.json`);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const names = await readdir(folder);
  if (names.includes(`${name}.json`)) return path;
  if (names.length >= FILES_MAX) return null;
  const leaf = difference && {
    index: difference.index,
    kept: difference.kept.toString('hex'),
    found: difference.found.toString('hex'),
  };
  const text = JSON.stringify({ origin, at, first_differing_leaf: leaf, cosigned, found }, null, 2);
  await writeDurably(path, `${text}\n`).catch(unlessThere);
  await syncFolderOf(path);
  return path;
}

function unlessThere(fault: NodeJS.ErrnoException): void {
  if (fault.code !== 'EEXIST') throw fault;
}

/** Signing key of a witness. */
interface WitnessKey {
  /** The public key, for logs and for readers that require this witness's cosignature. */
  readonly verifier: VerifierKey;
  /** A cosignature line (https://c2sp.org/tlog-cosignature) for that text, with the current time. */
  cosign(text: string): string;
}

/** Key type of timestamped Ed25519 cosignatures. */
const TYPE = Buffer.of(4);
/** The fixed bytes of a PKCS #8 wrapper, which come before the seed (RFC 8410 section 7). */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');

/**
 * Reads the key from the state folder, or generates it at the first start, readable only by its owner. The name is part of the
 * key's id and is stored with the key. @throws OperatorFault if `name` differs from the stored one
 */
export async function openWitnessKey(state: string, name: string | null, clock: Clock): Promise<WitnessKey> {
  const seed = Buffer.from(await keptSecret(state, 'witness_key', random => random), 'hex');
  const secret = createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: 'der', type: 'pkcs8' });
  const raw = Buffer.from(createPublicKey(secret).export({ format: 'jwk' }).x ?? '', 'base64url');
  const kept = await keptSecret(state, 'witness_name', () => name ?? `witness/${sha256Hex(raw).slice(0, 16)}`);
  if (name !== null && name !== kept)
    throw new OperatorFault(
      `the witness of this --state is named ${kept}; omit --name, or use another --state, which gets its own key`,
    );
  const typed = Buffer.concat([TYPE, raw]);
  const id = sha256(Buffer.concat([Buffer.from(`${kept}\n`), typed])).subarray(0, 4);
  const verifier = verifierKey(`${kept}+${id.toString('hex')}+${typed.toString('base64')}`);
  if (verifier === null)
    throw new OperatorFault(
      `the witness key or name in ${state} is not valid; restore that folder, or use another --state`,
    );
  return {
    verifier,
    cosign(text) {
      const seconds = Math.floor(clock.now_ms() / 1_000);
      const time = Buffer.alloc(8);
      time.writeBigUInt64BE(BigInt(seconds));
      const signature = sign(null, Buffer.from(`cosignature/v1\ntime ${seconds}\n${text}`), secret);
      return `\u2014 ${kept} ${Buffer.concat([id, time, signature]).toString('base64')}\n`;
    },
  };
}
