import { decodePaymentRequiredHeader, decodePaymentResponseHeader } from '@x402/core/http';
import { beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { limits } from '../../schema/limits.ts';
import { leafHash, verifyConsistency, verifyInclusion } from '../../subgraphs/receipt/verify/merkle-proof.ts';
import { type Fetch, handMadePayment, type OfferV1, payingFetch, registrationOf } from '../harness/buyer.ts';
import { ask, CHAT, type ReceiptBody, type Service, sharedService } from '../harness/doors/open-service.ts';
import { openSocket } from '../harness/doors/socket.ts';

let service: Service;
beforeAll(async () => {
  service = await sharedService();
});

const bytes = (hex: string) => Buffer.from(hex, 'hex');

interface Fault {
  readonly message: string;
  readonly extensions: JsonObject & { readonly x402?: { readonly accepts: readonly OfferV1[] } };
}
interface Result<T> {
  readonly data?: T | null;
  readonly errors?: readonly Fault[];
}
interface Sent {
  readonly variables?: JsonObject;
  readonly headers?: Readonly<Record<string, string>>;
  readonly by?: Fetch;
}

const run = <T = JsonObject>(query: string, { variables = {}, ...sent }: Sent = {}) =>
  service.knock<Result<T>>('POST', '/graphql', { body: { query, variables }, ...sent });

const CHAT_FIELD = 'createChatCompletion(input: { messages: [{ role: "user", content: "Hello" }] })';
const BUY = `mutation { ${CHAT_FIELD} { model svc receipt { taskId payloadHash } } }`;
interface Bought {
  readonly createChatCompletion: { readonly svc: ReceiptBody; readonly receipt: JsonObject };
}

describe('POST /graphql, a paid mutation', () => {
  it('402 unpaid: PAYMENT-REQUIRED, and the v1 offer in the error', async () => {
    const heard = await run(BUY);
    expect(heard.status).toBe(402);
    expect(decodePaymentRequiredHeader(heard.headers.get('PAYMENT-REQUIRED') ?? '')).toMatchObject({
      x402Version: 2,
      resource: { url: `${service.url}/graphql` },
      accepts: [{ amount: '2000', payTo: service.pay_to }],
    });
    const [fault] = heard.body.errors ?? [];
    expect(fault?.extensions).toMatchObject({ code: 'payment_required', status: 402 });
    expect(fault?.extensions.x402?.accepts).toEqual([expect.objectContaining({ maxAmountRequired: '2000' })]);
  });

  it('200 by the official v2 client: settlement headers, receipt, one transfer', async () => {
    const payer = await service.chain.newWallet();
    const heard = await run<Bought>(BUY, { by: payingFetch(payer) });
    expect(heard.status).toBe(200);
    expect(heard.body.errors).toBeUndefined();
    const { svc, receipt } = (heard.body.data as Bought).createChatCompletion;
    expect(receipt).toEqual({ taskId: svc.task_id, payloadHash: svc.payload_hash });
    expect(heard.headers.get('x-svc-task-id')).toBe(svc.task_id);
    expect(heard.headers.get('x-svc-settlement-status')).toBe('settled');
    expect(decodePaymentResponseHeader(heard.headers.get('PAYMENT-RESPONSE') ?? '')).toMatchObject({
      success: true,
      transaction: svc.payment_ref.replace('base:', ''),
    });
    expect(await service.transfersFrom(payer)).toHaveLength(1);
  });

  it.each([
    ['createResponse', { input: [{ role: 'user', content: 'Hello' }] }],
    [
      'requestTask',
      { messageType: 'inference_request', chainId: 'base', amount: '2000', sender: `0x${'1'.repeat(40)}` },
    ],
    ['quoteTask', {}],
  ] as const)('200 %s leads to its receipt', async (field, input) => {
    const type = { createResponse: 'ResponseInput', requestTask: 'TaskRequestInput', quoteTask: 'TaskQuoteInput' }[
      field
    ];
    const query = `mutation ($input: ${type}!) { it: ${field}(input: $input) { svc receipt { taskId } } }`;
    const { body } = await run<{ it: { svc: ReceiptBody; receipt: JsonObject } }>(query, {
      variables: { input },
      headers: { 'X-API-Key': 'a-live-key' },
    });
    const { svc, receipt } = body.data?.it ?? {};
    expect(receipt).toEqual({ taskId: svc?.task_id });
    expect(svc?.task_id).toMatch(/^task_/);
  });

  it('200 by an X-PAYMENT made by hand from the error', async () => {
    const payer = await service.chain.newWallet();
    const offer = (await run(BUY)).body.errors?.[0]?.extensions.x402?.accepts[0];
    if (!offer) throw new Error('nothing is offered');
    const heard = await run<Bought>(BUY, { headers: await handMadePayment(payer, offer) });
    expect(heard).toMatchObject({ status: 200, body: { data: { createChatCompletion: { svc: { amount: '2000' } } } } });
    expect(heard.headers.has('X-PAYMENT-RESPONSE')).toBe(true);
  });

  it('200 registers an agent', async () => {
    const account = await service.chain.newWallet();
    const { agentWallet, wallet_signature, signature_timestamp } = await registrationOf(account);
    const input = { agentWallet, walletSignature: wallet_signature, signatureTimestamp: signature_timestamp };
    const query =
      'mutation R($input: RegisterAgentInput!) { registerAgent(input: $input) { agentId agentWallet session } }';
    const heard = await run(query, { variables: { input }, by: payingFetch(account) });
    expect(heard.status).toBe(200);
    expect(heard.body.data).toMatchObject({ registerAgent: { agentId: expect.any(Number), agentWallet } });
    expect(await service.transfersFrom(account)).toHaveLength(1);
  });

  it.each([
    ['with a free sibling', `mutation { ${CHAT_FIELD} { svc } setBudget(agentId: 1, budgetAtomic: "1") { cap } }`],
    ['twice', `mutation { a: ${CHAT_FIELD} { svc } b: ${CHAT_FIELD} { svc } }`],
    [
      'twice behind a fragment',
      `mutation { ${CHAT_FIELD} { svc } ...F } fragment F on Mutation { b: ${CHAT_FIELD} { svc } }`,
    ],
  ])('400 %s: nothing is charged', async (_, query) => {
    const payer = await service.chain.newWallet();
    const heard = await run(query, { headers: await service.payment(payer, CHAT) });
    expect(heard.status).toBe(400);
    expect(heard.body.errors?.[0]).toMatchObject({
      message: expect.stringContaining('only root field'),
      extensions: { code: 'invalid_request' },
    });
    expect(await service.transfersFrom(payer)).toEqual([]);
  });

  it('invalid_request on arguments beyond their limits: nothing is charged', async () => {
    const payer = await service.chain.newWallet();
    const query = BUY.replace('] })', '], temperature: 3 })');
    const heard = await run(query, { headers: await service.payment(payer, CHAT) });
    expect(heard.body.errors?.[0]?.extensions).toMatchObject({ code: 'invalid_request', param: 'temperature' });
    expect(await service.transfersFrom(payer)).toEqual([]);
  });
});

describe('an answer in which aliases repeat a long text', () => {
  const LONG = 'x'.repeat(900_000);
  const fields = Array.from({ length: 20 }, (_, n) => `c${n}: content`).join(' ');
  const input = 'input: { model: "alpha-1", messages: [{ role: "user", content: "At length" }] }';
  const TOO_LARGE = { code: 'answer_too_large', status: 413, max: limits.graphql_answer_bytes_max };
  beforeEach(() => onTestFinished(() => service.hubs[0].behave({ kind: 'answer' })));

  it('answer_too_large, charged; the same payment brings what was bought for a smaller selection', async () => {
    const choices = [{ index: 0, message: { role: 'assistant', content: LONG }, finish_reason: 'stop' }];
    service.hubs[0].behave({ kind: 'status', status: 200, body: { choices } });
    const payer = await service.chain.newWallet();
    const headers = await service.payment(payer, CHAT);
    const buy = (selected: string) => `mutation { it: createChatCompletion(${input}) { ${selected} } }`;
    const refused = await run(buy(`choices { message { ${fields} } } svc`), { headers });
    expect(refused.body.data ?? null).toBeNull();
    expect(refused.body.errors).toMatchObject([{ extensions: { ...TOO_LARGE, charged: true } }]);
    const asked = service.hubs[0].requests.length;
    const { body } = await run<{ it: { choices: JsonObject[] } }>(buy('choices { message { content } }'), { headers });
    expect(body.data?.it.choices).toEqual([{ message: { content: LONG } }]);
    expect(service.hubs[0].requests).toHaveLength(asked);
    expect(await service.transfersFrom(payer)).toHaveLength(1);
  });

  it('as an event: answer_too_large in its place, and the receipt at the end', async () => {
    const choices = [{ index: 0, delta: { content: LONG }, finish_reason: null }];
    const end = [{ index: 0, delta: {}, finish_reason: 'stop' }];
    service.hubs[0].behave({ kind: 'events', events: [{ choices }, { choices: end }] });
    const query = `subscription { chatCompletionStream(${input}) { choices { delta { ${fields} } } svc } }`;
    const heard = await openSocket(service, { api_key: 'a-live-key' }).all(query);
    expect(heard).toMatchObject([
      { data: {} },
      { errors: [{ extensions: TOO_LARGE }] },
      { data: { chatCompletionStream: { svc: { waived_by: 'live_key' } } } },
    ]);
  });
});

describe('POST /graphql, a book', () => {
  const BOOK = `query Book($agentId: Int!) { book(agentId: $agentId, limit: 10) { cap spent remaining
    totals { count usdcSum } entries { seq taskId payment { amount }
      receipt { taskId payloadHash agentId bookSeq verifyUrl jws } } } }`;

  it('200 with rows, and each row joined to its receipt', async () => {
    const { account, agent_id, session, task_id } = await service.newAgent();
    const { svc } = (await service.buy(account)).body;
    const heard = await run(BOOK, { variables: { agentId: agent_id }, headers: { 'X-SVC-Session': session } });
    expect(heard.body).toEqual({
      data: {
        book: {
          cap: null,
          spent: '4000',
          remaining: null,
          totals: { count: 2, usdcSum: '4000' },
          entries: [
            {
              seq: 2,
              taskId: svc.task_id,
              payment: { amount: '2000' },
              receipt: {
                taskId: svc.task_id,
                payloadHash: svc.payload_hash,
                agentId: agent_id,
                bookSeq: 2,
                verifyUrl: svc.verify_url,
                jws: svc.issuer_signature.jws,
              },
            },
            expect.objectContaining({ seq: 1, taskId: task_id, receipt: expect.objectContaining({ taskId: task_id }) }),
          ],
        },
      },
    });
  });
});

describe('POST /graphql, public reads', () => {
  it('200 with proofs that a receipt stands in the log, and that the log only grew', async () => {
    const payer = await service.chain.newWallet();
    const { svc } = (await service.buy(payer, ask('One'))).body;
    for (const content of ['Two', 'Three', 'Four']) await service.buy(payer, ask(content));
    const query = `query Log($id: String!) { logHead { treeSize rootHash }
      receipt(taskId: $id) { leafIndex treeSize rootHash preimage } inclusionProof(taskId: $id) { path leafHash } }`;
    interface Proven {
      readonly logHead: { readonly treeSize: number; readonly rootHash: string };
      readonly receipt: {
        readonly leafIndex: number;
        readonly treeSize: number;
        readonly rootHash: string;
        readonly preimage: string;
      };
      readonly inclusionProof: { readonly path: readonly string[]; readonly leafHash: string };
    }
    const proven = (await run<Proven>(query, { variables: { id: svc.task_id } })).body.data;
    if (!proven) throw new Error('nothing was proven');
    const { logHead: head, receipt, inclusionProof } = proven;
    const leaf = leafHash(receipt.preimage);
    expect(inclusionProof.leafHash).toBe(leaf.toString('hex'));
    const [size, root] = [head.treeSize, bytes(head.rootHash)];
    expect(verifyInclusion({ leaf, leaf_index: receipt.leafIndex, size, root }, inclusionProof.path.map(bytes))).toBe(
      true,
    );

    const sizes = { from: receipt.treeSize, to: size };
    const growth = await run<{ consistencyProof: string[] }>(
      'query ($from: Int!, $to: Int!) { consistencyProof(from: $from, to: $to) }',
      { variables: sizes },
    );
    const old = { old_size: receipt.treeSize, old_root: bytes(receipt.rootHash) };
    const proof = growth.body.data?.consistencyProof.map(bytes) ?? [];
    expect(receipt.treeSize).toBeLessThan(size);
    expect(verifyConsistency({ ...old, size, root }, proof)).toBe(true);
  });

  it('invalid_request on text that no database can hold', async () => {
    const heard = await run('query ($id: String!) { receipt(taskId: $id) { taskId } }', { variables: { id: '\0' } });
    expect(heard.body.errors?.[0]?.extensions.code).toBe('invalid_request');
  });

  it('400 on a payment header that cannot be read', async () => {
    const heard = await run(BUY, { headers: { 'PAYMENT-SIGNATURE': '???' } });
    expect(heard).toMatchObject({ status: 400, body: { errors: [{ extensions: { code: 'invalid_payment' } }] } });
  });
});
