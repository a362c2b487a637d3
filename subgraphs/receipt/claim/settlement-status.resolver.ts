import 'reflect-metadata';
import { Args, Ctx, Query, Resolver } from 'type-graphql';
import { PaymentId, PaymentPayer } from '../../../schema/requests/receipt.ts';
import type { Context } from '../../context.ts';
import { type Arguments, argumentsType, readRequest } from '../../graph-type.ts';
import { requireNotHalted } from '../log/halt-guard.ts';
import { findPayment } from './settlement-status.ts';
import { SettlementReport } from './settlement-status.type.ts';

const SettlementArguments = argumentsType(PaymentId, PaymentPayer);

@Resolver()
export class SettlementStatusResolver {
  @Query(() => SettlementReport, {
    nullable: true,
    description:
      'State of a payment, by its nonce, message hash or payment-identifier. Public. Null if no payment has this id, or on error.',
  })
  async settlement(
    @Args(() => SettlementArguments) asked: Arguments,
    @Ctx() { database, base_url, response }: Context,
  ): Promise<SettlementReport | null> {
    const { payment_id } = readRequest(PaymentId, asked);
    const { payer = null } = readRequest(PaymentPayer, asked);
    const status = await findPayment(database, base_url, { payment_id, payer });
    // This payment may have been recorded although it is shown as `released` while the log is halted, and its payer would sign another one.
    if (status?.state !== 'settled') requireNotHalted(database);
    if (status && status.retryAfterSeconds !== null) response.headers['retry-after'] = String(status.retryAfterSeconds);
    return status;
  }
}
