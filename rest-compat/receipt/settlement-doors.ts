import { PaymentId, PaymentPayer } from '../../schema/requests/settlement.ts';
import { operation } from '../document.ts';
import { documentDoor } from '../door.ts';
import { Settlement } from './settlement-answers.ts';

export const settlementDoors = [
  documentDoor({
    name: 'get_settlement',
    methods: ['GET'],
    path: '/v1/settlements/{payment_id}',
    summary: 'How a payment stands, by its nonce, message hash or payment identifier',
    tags: ['receipts'],
    document: operation('receipt/get_settlement'),
    params: PaymentId,
    query: PaymentPayer,
    variables: ({ params, query }) => ({ paymentId: params.payment_id, payer: query.payer ?? null }),
    response: Settlement,
    asks_again: true,
    errors: ['not_found', 'record_damaged'],
  }),
] as const;
