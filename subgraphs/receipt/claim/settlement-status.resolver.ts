import 'reflect-metadata';
import { Arg, Ctx, Query, Resolver } from 'type-graphql';
import { parseRequest } from '../../../schema/requests/parse.ts';
import { PaymentId, PaymentPayer } from '../../../schema/requests/settlement.ts';
import type { Context } from '../../context.ts';
import { requireNotHalted } from '../log/while-halted.ts';
import { findPayment } from './settlement-status.ts';
import { SettlementReport } from './settlement-status.type.ts';

@Resolver()
export class SettlementStatusResolver {
  @Query(() => SettlementReport, {
    nullable: true,
    description:
      'By the nonce or message hash of a payment, or by the payment-identifier of its client. Needs no secret.',
  })
  async settlement(
    @Arg('paymentId', () => String, { description: 'The nonce, the message hash, or the payment-identifier.' })
    paymentId: string,
    @Arg('payer', () => String, { nullable: true, description: 'Whose, where several payers call theirs so.' }) named:
      | string
      | undefined,
    @Ctx() { database, base_url, response }: Context,
  ): Promise<SettlementReport | null> {
    const { payment_id } = parseRequest(PaymentId, { payment_id: paymentId });
    const { payer = null } = parseRequest(PaymentPayer, { payer: named ?? undefined });
    const status = await findPayment(database, base_url, { payment_id, payer });
    // `released` would have a payer sign another payment: the one that is asked for may have been recorded since.
    if (status?.state !== 'settled') requireNotHalted(database);
    if (status && status.retryAfterSeconds !== null) response.headers['retry-after'] = String(status.retryAfterSeconds);
    return status;
  }
}
