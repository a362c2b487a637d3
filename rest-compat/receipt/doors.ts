/* Endpoints of receipts, refusals, settlements and task status, and the forms in which they are given. */

import { z } from 'zod';
import { isJsonObject, type Json, type JsonObject } from '../../schema/canonical-json.ts';
import { onGraph } from '../../schema/noun.ts';
import { ReceiptNoun, ReceiptPayloadNoun } from '../../schema/receipt-shapes.ts';
import { RefusalNoun } from '../../schema/refusal.ts';
import {
  PaymentId,
  PaymentPayer,
  ProofRequest,
  ReceiptPath,
  RefusalPath,
  TaskQuery,
} from '../../schema/requests/receipt.ts';
import { ResultProofNoun } from '../../schema/result-proof.ts';
import { SettlementNoun, TaskStatusNoun } from '../../schema/settlement.ts';
import type { Form, VerifyingForm } from '../answer-forms.ts';
import { KEPT_FOR_GOOD } from '../bytes-cache.ts';
import { type Door, documentDoor } from '../door.ts';
import { fieldOperation } from '../field-operation.ts';
import { ReceiptAuditAnswer, RefusalAuditAnswer } from './audit-answers.ts';
import { faultPageOf } from './page/fault-page.ts';
import { HTML, pageHeaders } from './page/layout.ts';
import { receiptPage } from './page/receipt-page.ts';
import { refusalPage } from './page/refusal-page.ts';

const Format = z
  .enum(['json', 'auditor', 'html'])
  .describe(
    '`json` (default): the signed document. `auditor`: the document with all evidence, as JSON. `html`: a page for people, also chosen by Accept.',
  );

type Root = 'receipt' | 'refusal';

/** An operation that selects one member of a receipt or refusal. */
export function memberOperation(name: string, field: Root, member: string) {
  return fieldOperation({ name, field, shows: z.object({ [member]: z.unknown() }) });
}

/** Columns of a row whose response is one member. */
function memberColumns(member: string) {
  return {
    shows: z.object({ [member]: z.unknown() }),
    answer: (data: JsonObject) => rootMember(data, member),
  };
}

/** Member `name` of the root field. Null if there is no such receipt or refusal. */
export function rootMember({ answer }: JsonObject, name: string): Json {
  return isJsonObject(answer) ? (answer[name] ?? null) : null;
}

/** The document with all evidence, as JSON and as a page for people. */
function auditForms(name: string, field: Root, page: (audit: JsonObject, program: string) => string) {
  const document = memberOperation(name, field, 'auditorDocument');
  const auditOf = (data: JsonObject) => rootMember(data, 'auditorDocument');
  const auditor: Form = {
    media: 'application/json; charset=utf-8',
    document,
    textOf(data) {
      const audit = auditOf(data);
      return audit === null ? null : JSON.stringify(audit);
    },
  };
  const html: VerifyingForm = {
    media: HTML,
    document,
    withProgram: program => ({
      headers: pageHeaders(program),
      textOf(data) {
        const audit = auditOf(data);
        return isJsonObject(audit) ? page(audit, program) : null;
      },
    }),
  };
  return { auditor, html };
}

/** Further forms of a receipt, each by its name in `format`, and by Accept. */
interface ReceiptForms {
  readonly forms: Readonly<Record<string, Form>>;
  /** Appended to the description of `format`. */
  readonly described: string;
}

export function receiptDoor({ forms, described }: ReceiptForms): Door {
  const further = Object.keys(forms);
  return documentDoor({
    name: 'get_receipt',
    tool: { daily: true },
    methods: ['GET'],
    path: '/receipt/{task_id}',
    aliases: ['/receipt/{task_id}.json'],
    summary: 'Get a signed receipt, to verify offline',
    crawled: false,
    tags: ['receipts'],
    field: 'receipt',
    ...memberColumns('document'),
    params: ReceiptPath,
    query: z.object({
      format: z
        .enum([...Format.options, ...further])
        .describe(`${Format.description}${described}`)
        .optional(),
    }),
    forms: { ...forms, ...auditForms('get_receipt_audit', 'receipt', receiptPage) },
    form: ({ query }) => query.format,
    by_accept: ['html', ...further],
    fault_page: faultPageOf('receipt'),
    other_media: [HTML, ...Object.values(forms).map(({ media }) => media)],
    response: z.union([ReceiptNoun, ReceiptAuditAnswer]),
    errors: ['not_found', 'record_damaged'],
  });
}

export const receiptDoors = [
  receiptDoor({ forms: {}, described: '' }),
  documentDoor({
    name: 'get_receipt_preimage',
    methods: ['GET'],
    path: '/receipt/{id}/preimage',
    summary: 'Get the canonical JSON of a receipt, whose SHA-256 is its payload_hash',
    crawled: false,
    tags: ['receipts'],
    field: 'receipt',
    ...memberColumns('preimage'),
    params: z.object({ id: onGraph('taskId', ReceiptPath.shape.task_id) }),
    cache: KEPT_FOR_GOOD,
    response: ReceiptPayloadNoun,
    errors: ['not_found', 'record_damaged'],
  }),
  documentDoor({
    name: 'get_task_status',
    tool: { daily: true },
    methods: ['GET'],
    path: '/task-status',
    summary: 'Get the status of a task and what is known of its payment',
    tags: ['receipts'],
    field: 'taskStatus',
    query: TaskQuery,
    response: TaskStatusNoun,
    errors: ['not_found', 'record_damaged'],
  }),
  documentDoor({
    name: 'prove_result',
    tool: { daily: true },
    methods: ['GET'],
    path: '/prove-result',
    summary: 'Prove the settlement of a task and its place in the log',
    tags: ['receipts'],
    field: 'proveResult',
    query: TaskQuery.extend({
      requested: z
        .enum(['true', 'false'])
        .default('false')
        .describe(ProofRequest.shape.requested.description ?? ''),
    }),
    variables: ({ query }) => ({ taskId: query.task_id, requested: query.requested === 'true' }),
    response: ResultProofNoun,
    errors: ['not_found', 'record_damaged'],
  }),
] as const;

export const settlementDoors = [
  documentDoor({
    name: 'get_settlement',
    tool: { daily: true },
    methods: ['GET'],
    path: '/v1/settlements/{payment_id}',
    summary: 'Get the status of a payment by its nonce, message hash or payment identifier',
    tags: ['receipts'],
    field: 'settlement',
    params: PaymentId,
    query: PaymentPayer.strict(),
    response: SettlementNoun,
    asks_again: true,
    errors: ['not_found', 'record_damaged'],
  }),
] as const;

export const refusalDoors = [
  documentDoor({
    name: 'get_refusal',
    tool: { daily: true },
    methods: ['GET'],
    path: '/refusal/{refusal_id}',
    aliases: ['/refusal/{refusal_id}.json'],
    summary: 'Get the signed refusal of a call, to verify offline',
    crawled: false,
    tags: ['receipts'],
    field: 'refusal',
    ...memberColumns('document'),
    params: RefusalPath,
    query: z.object({ format: Format.optional() }),
    forms: auditForms('get_refusal_audit', 'refusal', refusalPage),
    form: ({ query }) => query.format,
    by_accept: ['html'],
    fault_page: faultPageOf('refusal'),
    other_media: [HTML],
    response: z.union([RefusalNoun, RefusalAuditAnswer]),
    errors: ['not_found', 'record_damaged'],
  }),
] as const;
