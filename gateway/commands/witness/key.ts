import { createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { sha256, sha256Hex } from '../../../schema/digest.ts';
import type { Clock } from '../../../subgraphs/clock.ts';
import { type VerifierKey, verifierKey } from '../../../subgraphs/receipt/verify/verifier-key.ts';
import { OperatorFault } from '../../config/fault.ts';
import { keptSecret } from '../../config/secrets.ts';

/** By which a witness signs; its verifier reads it by code of its own. */
export interface WitnessKey {
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
