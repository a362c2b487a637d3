import { Refusal } from '../../../schema/errors.ts';
import { limits } from '../../../schema/limits.ts';
import type { Tx } from '../../database.ts';

/** What a wallet signed to be given a session: named by the text, since one text has many signatures that pass. */
export interface RegistrationText {
  readonly text_hash: string;
  /** The Unix seconds in it. */
  readonly signed_at_seconds: number;
}

/**
 * A recover signature opens one session, once: whoever has read it in a log or on the way would else take the book from
 * its owner for as long as it is fresh. Taken in the transaction that issues the session, so that one which comes to
 * nothing leaves the signature good. Lock order: claim → slots → signature → agent → session.
 * @throws control_proof_invalid where it was taken before
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
