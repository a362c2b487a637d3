import { Refusal } from '../../../schema/errors.ts';
import { limits } from '../../../schema/limits.ts';
import type { Tx } from '../../database.ts';

/** Text that a wallet signed to receive a session. A signature is identified by its text, because one text has many valid signatures. */
export interface RegistrationText {
  readonly text_hash: string;
  /** Unix seconds in the text. */
  readonly signed_at_seconds: number;
}

/**
 * Uses up a recover signature. It opens only one session, because otherwise anyone who has read it could take the book while it is fresh.
 * It is used up in the transaction that issues the session, so that it stays valid if that fails. Lock order: claim → slots → signature →
 * agent → session. @throws control_proof_invalid if it was used before
 */
export async function takeSignature(tx: Tx, { text_hash, signed_at_seconds }: RegistrationText): Promise<void> {
  const forget_at = signed_at_seconds + limits.wallet_signature_age_seconds_max + limits.clocks_apart_seconds_max;
  const { rows } = await tx.query({
    name: 'take signature',
    text: `insert into signature_use (request_hash, forget_at) values ($1, to_timestamp($2))
      on conflict do nothing returning 1`,
    values: [text_hash, forget_at],
  });
  if (rows.length > 0) return;
  throw new Refusal('control_proof_invalid', {
    param: 'signature_timestamp',
    detail: 'This signature has already opened a session. Sign again with a later signature_timestamp.',
  });
}
