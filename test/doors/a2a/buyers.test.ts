import { TaskState } from '@a2a-js/sdk';
import { getBase58Decoder, type KeyPairSigner, signBytes } from '@solana/kit';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { A2A, agentAt, payerHeader, rawMessage, rpc } from '../../harness/a2a/agent.ts';
import { openSolanaService, type SolanaService } from '../../harness/solana/open-service.ts';

/*
 * A task is not public. Its buyer can read its output, list, follow and cancel it, regardless of the way of paying. Everyone else sees only
 * its state.
 */

let service: SolanaService;
beforeAll(async () => {
  service = await openSolanaService({ API_KEYS: 'a-live-key,another-live-key', DEMO_KEYS: 'a-demo-key' });
});
beforeEach(() => {
  for (const hub of service.hubs) hub.behave({ kind: 'answer' });
  service.gates.alpha.open();
});

type Headers = Readonly<Record<string, string>>;

/** A buyer: the headers by which it pays for a call, and those by which it later proves that the call is its own. */
interface Buyer {
  readonly buys: () => Promise<Headers>;
  readonly shows: () => Promise<Headers>;
  /** Number of payments by this buyer. A buyer with an API key makes none. */
  readonly charged: () => Promise<number>;
}

const now = () => Math.floor(Date.now() / 1000);

async function signedOnSolana({ address, keyPair }: KeyPairSigner): Promise<Headers> {
  const at = now();
  const text = new TextEncoder().encode(`svc.tasks|${service.url}|solana|${address}|${at}`);
  const signature = getBase58Decoder().decode(await signBytes(keyPair.privateKey, text));
  return { 'X-SVC-Payer': `solana:${address}:${at}:${signature}` };
}

const buyers: Readonly<Record<string, () => Promise<Buyer>>> = {
  async 'the buying key'() {
    const shown = async () => ({ 'X-API-Key': 'a-live-key' });
    return { buys: shown, shows: shown, charged: async () => 0 };
  },
  async 'the payer’s fresh signature on Base'() {
    const payer = await service.chain.newWallet();
    return {
      buys: () => service.payment(payer, A2A),
      shows: () => payerHeader(service, payer),
      charged: async () => (await service.transfersFrom(payer)).length,
    };
  },
  async 'the payer’s fresh signature on Solana'() {
    const payer = await service.svm.newWallet();
    return {
      buys: () => service.paymentOnSolana(payer, A2A),
      shows: () => signedOnSolana(payer.signer),
      charged: async () => (await service.movedFrom(payer)).length,
    };
  },
  async 'the session of the payer’s book'() {
    const agent = await service.newAgent();
    const before = (await service.transfersFrom(agent.account)).length;
    return {
      buys: () => service.payment(agent.account, A2A),
      shows: async () => ({ 'X-SVC-Session': agent.session }),
      charged: async () => (await service.transfersFrom(agent.account)).length - before,
    };
  },
};

/** Headers of callers that did not buy the task. The first sends no credential. */
async function strangers(): Promise<readonly Headers[]> {
  const other = await service.newAgent();
  return [
    {},
    { 'X-SVC-Session': other.session },
    { 'X-API-Key': 'another-live-key' },
    await payerHeader(service, other.account),
    await signedOnSolana((await service.svm.newWallet()).signer),
  ];
}

type TaskAnswer = JsonObject & { readonly id: string; readonly status: { readonly state: string } };
interface Page {
  readonly tasks: readonly TaskAnswer[];
}

async function listed(headers: Headers, status = ''): Promise<readonly TaskAnswer[]> {
  const { body } = await rpc<Page>(service, 'ListTasks', { includeArtifacts: true, status }, headers);
  return body.result?.tasks ?? [];
}

/** A call in progress and its task, as the buyer's own list shows it. */
async function underWay({ buys, shows }: Buyer, content: string) {
  service.gates.alpha.hold();
  const params = rawMessage('', { parts: [{ data: { model: 'alpha-1' } }, { text: content }] });
  const answer = rpc<{ task: TaskAnswer }>(service, 'SendMessage', params, await buys());
  const headers = await shows();
  const working = async () => (await listed(headers, 'TASK_STATE_WORKING'))[0]?.id ?? '';
  await expect.poll(working).not.toBe('');
  return { answer, id: await working() };
}

const STATE_ALONE = ['id', 'contextId', 'status'];

/** Expects that other callers see only the state of a task, in that state. */
async function hearsStateAlone(id: string, state: string): Promise<void> {
  for (const [at, headers] of (await strangers()).entries()) {
    const told = await rpc<TaskAnswer>(service, 'GetTask', { id }, headers);
    expect([Object.keys(told.body.result), told.body.result.status.state], JSON.stringify(headers)).toEqual([
      STATE_ALONE,
      state,
    ]);
    const refused = at === 0 ? [401, -32041] : [403, -32043];
    for (const method of ['CancelTask', 'SubscribeToTask']) {
      const heard = await rpc(service, method, { id }, headers);
      expect([heard.status, heard.body.error.code], `${method} ${JSON.stringify(headers)}`).toEqual(refused);
    }
    expect((await listed(headers)).map(task => task.id)).not.toContain(id);
  }
}

describe.each(Object.keys(buyers))('by %s', by => {
  let buyer: Buyer;
  beforeAll(async () => {
    buyer = await (buyers[by] as () => Promise<Buyer>)();
  });

  it('CancelTask lets go of what is under way: nothing is charged, its call hears so, and a stranger cannot', async () => {
    const before = await buyer.charged();
    const { answer, id } = await underWay(buyer, 'Never mind');
    await hearsStateAlone(id, 'TASK_STATE_WORKING');
    const canceled = await rpc<TaskAnswer>(service, 'CancelTask', { id }, await buyer.shows());
    expect(canceled.body.result).toMatchObject({ id, status: { state: 'TASK_STATE_CANCELED' } });
    service.gates.alpha.open();
    const heard = await answer;
    expect([heard.status, heard.body.error.data[0]?.reason]).toEqual([409, 'CALL_CANCELED']);
    await hearsStateAlone(id, 'TASK_STATE_CANCELED');
    const again = await rpc<TaskAnswer>(service, 'CancelTask', { id }, await buyer.shows());
    expect(again.body.result.status.state).toBe('TASK_STATE_CANCELED');
    expect(await buyer.charged()).toBe(before);
  });

  it('SubscribeToTask follows what is under way to its artifacts and its end', async () => {
    const { answer, id } = await underWay(buyer, 'Followed');
    const client = await agentAt(service);
    const cases: string[] = [];
    const states: (TaskState | undefined)[] = [];
    const stream = client.resubscribeTask({ tenant: '', id }, { serviceParameters: { ...(await buyer.shows()) } });
    for await (const { payload } of stream) {
      cases.push(payload?.$case ?? '');
      if (payload?.$case === 'task') service.gates.alpha.open();
      if (payload?.$case === 'artifactUpdate') expect(JSON.stringify(payload.value)).toContain('Followed');
      if (payload?.$case === 'statusUpdate') states.push(payload.value.status?.state);
    }
    expect([cases[0], cases.at(-2), cases.at(-1)]).toEqual(['task', 'artifactUpdate', 'statusUpdate']);
    expect(states.at(-1)).toBe(TaskState.TASK_STATE_COMPLETED);
    expect((await answer).status).toBe(200);
  });

  it('GetTask and ListTasks show what it brought, and CancelTask cannot take it back: to a stranger there is its state', async () => {
    const made = await rpc<{ task: TaskAnswer }>(service, 'SendMessage', rawMessage('Settled'), await buyer.buys());
    const { id } = made.body.result.task;
    const before = await buyer.charged();
    const headers = await buyer.shows();
    const shown = (await rpc<TaskAnswer>(service, 'GetTask', { id }, headers)).body.result;
    const inList = (await listed(headers)).find(task => task.id === id);
    for (const task of [shown, inList]) {
      expect(JSON.stringify(task?.artifacts)).toContain('Settled');
      expect(task?.metadata).toMatchObject({ svc: { task_id: id } });
    }
    const kept = await rpc(service, 'CancelTask', { id }, headers);
    expect([kept.status, kept.body.error.code]).toEqual([200, -32002]);
    const over = await rpc(service, 'SubscribeToTask', { id }, headers);
    expect(over.body.error.code).toBe(-32004);
    await hearsStateAlone(id, 'TASK_STATE_COMPLETED');
    expect((await rpc<TaskAnswer>(service, 'GetTask', { id }, headers)).body.result.status.state).toBe(
      'TASK_STATE_COMPLETED',
    );
    expect(await buyer.charged()).toBe(before);
  });
});
