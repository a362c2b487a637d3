import { z } from 'zod';
import { isJsonObject, type Json } from '../../schema/canonical-json.ts';
import { limits } from '../../schema/limits.ts';
import { PaymentId, PaymentPayer } from '../../schema/requests/settlement.ts';
import { operation } from '../document.ts';
import { documentDoor } from '../door.ts';
import { RefusalAnswer, ResultProofAnswer, SettlementStatusAnswer, TaskStatusAnswer } from './answers.ts';
import { PayloadAnswer, ReceiptAnswer } from './signed-receipt.ts';

const Task = z.object({ task_id: z.string().max(64) });

const GATE = `true: the settlement is shown below ${limits.settlement_proof_gate_atomic} atomic USDC, too.`;

/** What the one nullable root field holds under `name`; null where there is no such receipt. */
function receiptMember(receipt: Json | undefined, name: string): Json {
  return isJsonObject(receipt) ? (receipt[name] ?? null) : null;
}

export const receiptDoors = [
  documentDoor({
    name: 'get_receipt',
    methods: ['GET'],
    path: '/receipt/{task_id}',
    aliases: ['/receipt/{task_id}.json'],
    summary: 'A signed receipt, to be verified offline',
    tags: ['receipts'],
    document: operation('receipt/get_receipt'),
    params: Task,
    query: z.object({ format: z.enum(['json']).optional() }),
    variables: ({ params }) => ({ taskId: params.task_id }),
    answer: data => receiptMember(data.receipt, 'document'),
    response: ReceiptAnswer,
    errors: ['not_found', 'record_damaged'],
  }),
  documentDoor({
    name: 'get_receipt_preimage',
    methods: ['GET'],
    path: '/receipt/{id}/preimage',
    summary: 'The canonical JSON whose SHA-256 is payload_hash, byte for byte',
    tags: ['receipts'],
    document: operation('receipt/get_receipt_preimage'),
    params: z.object({ id: z.string().max(64) }),
    variables: ({ params }) => ({ taskId: params.id }),
    answer: data => receiptMember(data.receipt, 'preimage'),
    cache: 'public, max-age=31536000, immutable',
    response: PayloadAnswer,
    errors: ['not_found', 'record_damaged'],
  }),
  documentDoor({
    name: 'get_task_status',
    methods: ['GET'],
    path: '/task-status',
    summary: 'Where a task stands, and the outcome of its proof',
    tags: ['receipts'],
    document: operation('receipt/get_task_status'),
    query: Task,
    variables: ({ query }) => ({ taskId: query.task_id }),
    response: TaskStatusAnswer,
    errors: ['not_found', 'record_damaged'],
  }),
  documentDoor({
    name: 'prove_result',
    methods: ['GET'],
    path: '/prove-result',
    summary: 'What can be proven of a task: its settlement, and its place in the log',
    tags: ['receipts'],
    document: operation('receipt/prove_result'),
    query: Task.extend({ requested: z.enum(['true', 'false']).default('false').describe(GATE) }),
    variables: ({ query }) => ({ taskId: query.task_id, requested: query.requested === 'true' }),
    response: ResultProofAnswer,
    errors: ['not_found', 'record_damaged'],
  }),
] as const;

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
    response: SettlementStatusAnswer,
    asks_again: true,
    errors: ['not_found', 'record_damaged'],
  }),
] as const;

export const refusalDoors = [
  documentDoor({
    name: 'get_refusal',
    methods: ['GET'],
    path: '/refusal/{refusal_id}',
    summary: "A signed refusal of a book's policy, to be verified offline",
    tags: ['receipts'],
    document: operation('receipt/get_refusal'),
    params: z.object({ refusal_id: z.string().max(64) }),
    query: z.object({ format: z.enum(['json']).optional() }),
    variables: ({ params }) => ({ refusalId: params.refusal_id }),
    answer: ({ refusal }) => (isJsonObject(refusal) ? (refusal.document ?? null) : null),
    response: RefusalAnswer,
    errors: ['not_found', 'record_damaged'],
  }),
] as const;
