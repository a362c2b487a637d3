import { sameSecret } from '../../../schema/digest.ts';
import type { ActTime } from '../../../schema/session/act.ts';
import type { Services } from '../../context.ts';

/* Issues nonces with a keyed hash by which this service recognises them, so that a request for one writes nothing. */

export interface IssuedChallenge extends ActTime {
  readonly challenge_id: string;
  readonly issued_at: number;
}

const NONCE_BYTES = 32;
const LABEL = 'session challenge';

export function issueChallenge(
  { vault, random, clock }: Pick<Services, 'vault' | 'random' | 'clock'>,
  delegation_hash: string,
  ttl_seconds: number,
): IssuedChallenge {
  const issued_at = Math.floor(clock.now_ms() / 1000);
  const bytes = Buffer.from(random.bytes(NONCE_BYTES));
  const time = { nonce: `0x${bytes.toString('hex')}`, issued_at, deadline: issued_at + ttl_seconds };
  const mark = markOf(vault, delegation_hash, time);
  return { ...time, challenge_id: [bytes.toString('base64url'), issued_at, time.deadline, mark].join('.') };
}

/** Reads a challenge. Null unless this service issued it for this session. The caller checks whether it has expired. */
export function openChallenge(
  { vault }: { readonly vault: Pick<Services['vault'], 'mark'> },
  delegation_hash: string,
  challenge_id: string,
): ActTime | null {
  const [, nonce = '', issued_at, deadline, mark = ''] =
    /^([\w-]{43})\.(\d{1,12})\.(\d{1,12})\.([\w-]+)$/.exec(challenge_id) ?? [];
  const bytes = Buffer.from(nonce, 'base64url');
  const time = { nonce: `0x${bytes.toString('hex')}`, issued_at: Number(issued_at), deadline: Number(deadline) };
  return sameSecret(mark, markOf(vault, delegation_hash, time)) ? time : null;
}

function markOf(
  vault: Pick<Services['vault'], 'mark'>,
  delegation_hash: string,
  { nonce, issued_at, deadline }: Omit<IssuedChallenge, 'challenge_id'>,
): string {
  return vault.mark([delegation_hash, nonce, issued_at, deadline].join('|'), LABEL);
}
