import { errors, Refusal } from '../../schema/errors.ts';
import { modelsWithin } from '../../schema/session/grant-rule.ts';
import type { Clock } from '../../subgraphs/clock.ts';
import type { Context } from '../../subgraphs/context.ts';
import type { Database } from '../../subgraphs/database.ts';
import { admitGrant } from '../../subgraphs/session/delegation/admit.ts';
import { payerOfRoot } from '../../subgraphs/session/delegation/find.ts';
import { payActOf } from '../../subgraphs/session/delegation/pay-act.ts';
import type { Vault } from '../../subgraphs/vault.ts';
import type { WalletProofs } from '../../subgraphs/wallet-proofs.ts';
import { paymentId } from '../rails/payment.ts';
import type { ClaimedUnder } from '../record/under-sessions.ts';
import type { Failures } from './failures.ts';
import type { Presented } from './verify-payment.ts';

/* What a grant comes to beside its payment. A wallet-less agent pays from no book: money always moves by x402. */

export interface AdmitUnderParts {
  readonly database: Database;
  readonly wallets: WalletProofs;
  readonly clock: Clock;
  readonly vault: Pick<Vault, 'mark'>;
  readonly failures: Pick<Failures, 'tried'>;
}

export function openAdmitUnder(parts: AdmitUnderParts) {
  return async (
    { delegation, paid, payer, call, payment, address_mark }: Presented,
    { principal }: Context,
  ): Promise<ClaimedUnder | null> => {
    if (delegation === null) return null;
    const { authorization } = payment;
    // Also where it comes under a session over the first's: all of that one's path has counted both.
    const counted = paid.held_under?.includes(delegation.delegation_hash) ? 0n : null;
    const holds_atomic = counted ?? paid.reserved_atomic ?? authorization.amount_atomic;
    const asked = { shown: delegation, payer, field: paid.field, models: call.models, address: principal.address };
    const now_seconds = Math.floor(parts.clock.now_ms() / 1000);
    const paid_under = await admitGrant(parts, { ...asked, holds_atomic }, now_seconds).catch(error => {
      // Its payment proves its payer, and so costs no turn at the door: what grants come to beside it is counted here.
      if (error instanceof Refusal && errors[error.code][0] < 500) parts.failures.tried(payer.wallet, address_mark);
      throw error;
    });
    const approval = payActOf(parts, delegation, paymentId(authorization), now_seconds);
    if (approval === null) return { shown: delegation, paid_under, approval };
    const { delegation_hash, grant } = delegation;
    const root_payer = await payerOfRoot(parts.database, paid_under.path, { delegation_hash, payer: grant.payer });
    return { shown: delegation, paid_under, approval: { ...approval, root_payer } };
  };
}

/** The models that may answer by the book and by the grant; null where neither says so. */
export function modelsUnder({ under }: Presented, allowed: readonly string[] | null): readonly string[] | null {
  return under ? modelsWithin(under.shown.grant.models, allowed) : allowed;
}
