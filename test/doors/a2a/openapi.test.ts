import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { A2A, payerHeader, type Rpc, rawMessage, rpc, X402 } from '../../harness/a2a/agent.ts';
import { ask, resetHubsBeforeEach, type Service, sharedService } from '../../harness/doors/open-service.ts';
import { policyDoorsOf } from '../../harness/doors/policies.ts';
import type { TableAnswer } from '../../harness/doors/table.ts';
import { withoutReferences } from '../../harness/openapi.ts';

/* Calls by JSON-RPC match their description in /openapi.json. */

let service: Service;
let described: JsonObject;
const ajv = new Ajv2020({ strict: false });
formats.default(ajv);

beforeAll(async () => {
  service = await sharedService();
  described = withoutReferences((await service.get('/openapi.json')).body);
  ajv.addSchema(described, 'openapi');
});
resetHubsBeforeEach(() => service);

const OPERATION = '/paths/~1a2a-message/post';
const POST = () => (described.paths as Record<string, { post: JsonObject }>)[A2A]?.post as JsonObject;

function schemaAt(pointer: string): ValidateFunction {
  const found = ajv.getSchema(`openapi#${pointer}`);
  if (!found) throw new Error(`${pointer} is not described`);
  return found;
}

const bodyOf = (status: number, media = 'application~1json') =>
  schemaAt(`${OPERATION}/responses/${status}/content/${media}/schema`);

function keepsTo(valid: ValidateFunction, body: unknown, whether = true): void {
  expect(valid(body), JSON.stringify(valid.errors ?? body)).toBe(whether);
}

/** One call for each kind of answer. */
const callsByAnswer: Readonly<Record<string, { readonly status: number; by(): Promise<TableAnswer<Rpc>> }>> = {
  'the result of a method': {
    status: 200,
    by: () => rpc(service, 'SendMessage', rawMessage('Hello'), { 'X-API-Key': 'a-live-key' }),
  },
  'a task that needs input': {
    status: 200,
    by: () => rpc(service, 'SendMessage', rawMessage('Hello'), { 'A2A-Extensions': X402 }),
  },
  'params that are none': { status: 200, by: () => rpc(service, 'GetTask', { id: 7 }) },
  'a chat that is none, though it is paid for': {
    status: 200,
    async by() {
      const payer = await service.chain.newWallet();
      const wrong = rawMessage('', { parts: [{ data: { temperature: 9 } }, { text: 'Hello' }] });
      return rpc(service, 'SendMessage', wrong, await service.payment(payer, A2A));
    },
  },
  'a task that nobody has': { status: 200, by: () => rpc(service, 'GetTask', { id: 'nobodys' }) },
  'what is no JSON': {
    status: 200,
    by: () => service.knock<Rpc>('POST', A2A, { body: '{"jsonrpc"', headers: { 'A2A-Version': '1.0' } }),
  },
  'whoever shows nothing': { status: 401, by: () => rpc(service, 'ListTasks', {}) },
  'a message that is not paid for': { status: 402, by: () => rpc(service, 'SendMessage', rawMessage('Hello')) },
  'a payment that does not do': {
    status: 402,
    async by() {
      const payment = await service.payment(await service.chain.newWallet(), A2A);
      const payload = JSON.parse(Buffer.from(payment['PAYMENT-SIGNATURE'] ?? '', 'base64').toString());
      payload.payload.authorization.to = payload.payload.authorization.from;
      const forged = Buffer.from(JSON.stringify(payload)).toString('base64');
      return rpc(service, 'SendMessage', rawMessage('Hello'), { 'PAYMENT-SIGNATURE': forged });
    },
  },
  'a session that opens nothing': {
    status: 403,
    by: () => rpc(service, 'ListTasks', {}, { 'X-SVC-Session': 'nobodys' }),
  },
  'a message that the payer’s book refuses': {
    status: 403,
    async by() {
      const { account } = await policyDoorsOf(service).newBlockedAgent();
      return rpc(service, 'SendMessage', rawMessage('Hello'), await service.payment(account, A2A));
    },
  },
  'a payment that has bought something else': {
    status: 409,
    async by() {
      const payment = await service.payment(await service.chain.newWallet(), A2A);
      expect((await rpc(service, 'SendMessage', rawMessage('This'), payment)).status).toBe(200);
      return rpc(service, 'SendMessage', rawMessage('That'), payment);
    },
  },
  'a task that is settled, to be canceled': {
    status: 200,
    async by() {
      const payer = await service.chain.newWallet();
      const made = await rpc<{ task: { id: string } }>(
        service,
        'SendMessage',
        rawMessage('Hello'),
        await service.payment(payer, A2A),
      );
      return rpc(service, 'CancelTask', { id: made.body.result.task.id }, await payerHeader(service, payer));
    },
  },
  'hubs that fail': {
    status: 502,
    async by() {
      for (const hub of service.hubs) hub.behave({ kind: 'status', status: 500 });
      return rpc(
        service,
        'SendMessage',
        rawMessage('Hello'),
        await service.payment(await service.chain.newWallet(), A2A),
      );
    },
  },
};

describe('POST /a2a-message in /openapi.json', () => {
  it.each(Object.entries(callsByAnswer))(
    '%s: its status, and a body of the shape that is described',
    async (_, { status, by }) => {
      const answer = await by();
      expect([answer.status, answer.headers.get('content-type')]).toEqual([status, 'application/json; charset=utf-8']);
      expect(answer.body.jsonrpc).toBe('2.0');
      keepsTo(bodyOf(status), answer.body);
      // The schema must also refuse a body that does not match it.
      const { jsonrpc: _j, ...without } = answer.body;
      keepsTo(bodyOf(status), without, false);
      if (answer.body.error) keepsTo(bodyOf(status), { ...answer.body, error: { code: 'x' } }, false);
    },
  );

  it('a 402 without a call is the challenge of x402, under the same description', async () => {
    const { status, body } = await service.post<Rpc>(A2A, ask('Hello'));
    expect([status, 'x402Version' in body]).toEqual([402, true]);
    keepsTo(bodyOf(402), body);
  });

  it('a fault of a chat is a problem, as at every other door', async () => {
    for (const hub of service.hubs) hub.behave({ kind: 'status', status: 500 });
    const payment = await service.payment(await service.chain.newWallet(), A2A);
    const { status, body } = await service.post(A2A, ask('Hello'), payment);
    expect(status).toBe(502);
    keepsTo(bodyOf(502, 'application~1problem+json'), body);
    keepsTo(bodyOf(502), body, false);
  });

  it('what a call never hears by HTTP is not described as its answer: it has no room there, or was not read', () => {
    const responses = POST().responses as Record<string, { content: JsonObject }>;
    const told = Object.keys(responses).filter(status => 'application/json' in (responses[status]?.content ?? {}));
    for (const status of ['400', '408', '413', '415', '431']) expect(told).not.toContain(status);
    for (const status of ['401', '402', '403', '409', '410', '429', '500', '502', '503'])
      expect(told).toContain(status);
  });

  it('takes a chat or a call, and nothing else', () => {
    const takes = schemaAt(`${OPERATION}/requestBody/content/application~1json/schema`);
    keepsTo(takes, ask('Hello'));
    keepsTo(takes, { jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: 'x' } });
    keepsTo(takes, { jsonrpc: '2.0', id: 1, params: {} }, false);
  });
});
