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
import { type CosignedHead, CosignedHeads, type Reach } from './cosigned-heads.ts';

/** A checkpoint that the log has signed. */
export type SignedCheckpoint = Extract<OpenedCheckpoint, { kind: 'signed' }>;

/** Signs for one log what others have proven, and keeps what it has signed. */
export class Cosigner {
  readonly origin: string;
  readonly #keys: readonly VerifierKey[];
  readonly #key: WitnessKey;
  readonly #heads: CosignedHeads;
  readonly #state: string;
  readonly #clock: Clock;

  constructor(
    log: { readonly origin: string; readonly keys: readonly VerifierKey[] },
    { key, state, clock, reach }: { key: WitnessKey; state: string; clock: Clock; reach: Reach },
  ) {
    this.origin = log.origin;
    this.#keys = log.keys;
    this.#key = key;
    this.#heads = new CosignedHeads(join(state, 'checkpoints'), key.verifier, reach);
    this.#state = state;
    this.#clock = clock;
  }

  /** By the keys that are trusted for this log. */
  open(note: string): OpenedCheckpoint {
    return openCheckpoint(note, this.#keys);
  }

  newest(): Promise<CosignedHead | null> {
    return this.#heads.newest();
  }

  /**
   * The cosignature of a checkpoint that was proven to extend `from`, once it is kept; null where something else was cosigned
   * meanwhile. Of the log's signatures only those are kept that were verified.
   */
  async cosign(from: CosignedHead | null, { text, signatures }: SignedCheckpoint): Promise<string | null> {
    const cosignature = this.#key.cosign(text);
    const note = `${text}\n${signatures.map(({ line }) => line).join('')}${cosignature}`;
    return (await this.#heads.keep(from, note)) ? cosignature : null;
  }

  /** Keeps a checkpoint that contradicts what was cosigned beside that; the path of the file, or null. */
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

/** Two checkpoints of one log, both signed by it, of which neither extends the other. */
interface Fork {
  readonly origin: string;
  /** With this witness's own cosignature. */
  readonly cosigned: string;
  readonly found: string;
  /** Null where it is not known. */
  readonly difference: Difference | null;
  /** ISO 8601. */
  readonly at: string;
}

/** A log that signs forks without end fills no disk. */
const FILES_MAX = 64;

/** Keeps both; null where there are enough of them. `name` is the same for the same two. */
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

/** By which a witness signs; its verifier reads it by code of its own. */
interface WitnessKey {
  /** What a log, and whoever demands this witness, is told. */
  readonly verifier: VerifierKey;
  /** The line of a cosignature (https://c2sp.org/tlog-cosignature) below that text, made now. */
  cosign(text: string): string;
}

/** Timestamped Ed25519 cosignatures. */
const TYPE = Buffer.of(4);
/** RFC 8410 §7: a PKCS #8 wrapper of fixed bytes, then the seed. */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');

/**
 * Made once in the state folder, readable by its owner alone. The name is part of the key's id, and kept with it.
 * @throws OperatorFault where another name is asked for than the key was made with
 */
export async function openWitnessKey(state: string, name: string | null, clock: Clock): Promise<WitnessKey> {
  const seed = Buffer.from(await keptSecret(state, 'witness_key', random => random), 'hex');
  const secret = createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: 'der', type: 'pkcs8' });
  const raw = Buffer.from(createPublicKey(secret).export({ format: 'jwk' }).x ?? '', 'base64url');
  const kept = await keptSecret(state, 'witness_name', () => name ?? `witness/${sha256Hex(raw).slice(0, 16)}`);
  if (name !== null && name !== kept)
    throw new OperatorFault(`this witness is called ${kept}: another name takes another key, and another --state`);
  const typed = Buffer.concat([TYPE, raw]);
  const id = sha256(Buffer.concat([Buffer.from(`${kept}\n`), typed])).subarray(0, 4);
  const verifier = verifierKey(`${kept}+${id.toString('hex')}+${typed.toString('base64')}`);
  if (verifier === null) throw new OperatorFault(`the key in ${state} cannot be read`);
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
