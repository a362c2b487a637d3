import { beforeAll, describe, expect, it } from 'vitest';
import { canonicalHash, isJsonObject, type Json, type JsonObject } from '../../../schema/canonical-json.ts';
import { rpc } from '../../harness/a2a/agent.ts';
import { audioForm } from '../../harness/doors/audio-form.ts';
import { onGraph } from '../../harness/doors/on-graph.ts';
import { openService, type ReceiptBody, type Service } from '../../harness/doors/open-service.ts';
import { taskOf } from '../../harness/doors/tasks.ts';

/* Work that was bought at another endpoint than /a2a-message, as its buyer reads it later. */

let service: Service;
let agent: Awaited<ReturnType<Service['newAgent']>>;
beforeAll(async () => {
  service = await openService({ API_KEYS: 'a-live-key' }, { media: true });
  agent = await service.newAgent();
});

const KEY = { 'X-API-Key': 'a-live-key' };
type Headers = Readonly<Record<string, string>>;
interface Bought extends JsonObject {
  readonly task_id: string;
  readonly svc: ReceiptBody;
}

const work: readonly [
  what: string,
  path: string,
  body: () => JsonObject | FormData,
  committed: (answer: JsonObject) => Json,
][] = [
  ['an embedding', '/v1/embeddings', () => ({ input: 'A lighthouse at night' }), ({ data }) => data ?? null],
  ['an image', '/v1/images/generations', () => ({ prompt: 'A lighthouse' }), ({ data }) => data ?? null],
  ['a forecast', '/task-quote', () => taskOf(agent.account), forecast => forecast],
  ['a transcription', '/v1/audio/transcriptions', () => audioForm({}), ({ model: _, hub: __, ...output }) => output],
];

const buyers: readonly [by: string, buys: (path: string) => Promise<Headers>, shows: () => Headers][] = [
  ['a payment', path => service.payment(agent.account, path), () => ({ 'X-SVC-Session': agent.session })],
  ['a key', async () => ({ ...KEY, 'Idempotency-Key': `other-work-${++named}` }), () => KEY],
];
let named = 0;

const read = async (task_id: string, headers: Headers) => {
  const task = (await rpc(service, 'GetTask', { id: task_id }, headers)).body.result;
  const [artifact] = (task.artifacts ?? []) as { parts: { data: JsonObject }[] }[];
  return artifact?.parts[0]?.data ?? null;
};

describe.each(buyers)('bought by %s', (_, buys, shows) => {
  it.each(work)(
    '%s is shown to its buyer alone, as its receipt commits to it',
    async (_what, path, body, committed) => {
      const { body: bought, status } = await service.knock<Bought>('POST', path, {
        body: body(),
        headers: await buys(path),
      });
      expect(status).toBe(200);
      const { svc, task_id: _id, ...answer } = bought;
      const shown = await read(svc.task_id, shows());
      expect(shown).toMatchObject(isJsonObject(answer.forecast) ? answer.forecast : answer);
      const { fulfillment } = svc.payload as unknown as { fulfillment: { output_commitment: JsonObject } };
      expect(canonicalHash(committed(shown ?? {}))).toBe(fulfillment.output_commitment.hash);
      expect(await read(svc.task_id, {})).toBeNull();
    },
  );
});

describe('boughtTask', () => {
  it('answer_too_large where its aliases would open more than a response may hold, and one of them is shown', async () => {
    const path = '/v1/embeddings';
    const input = Array.from({ length: 64 }, (_, at) => `Text ${at}`);
    const { svc } = (
      await service.post<Bought>(path, { input, dimensions: 3_072 }, await service.payment(agent.account, path))
    ).body;
    const query = (times: number) =>
      `query ($id: String!) { boughtTask(taskId: $id) { ${Array.from({ length: times }, (_, at) => `a${at}: answer`).join(' ')} } }`;
    const ask = (times: number) =>
      onGraph<{ boughtTask: JsonObject | null }>(service, query(times), { id: svc.task_id }, agent.session);
    const [one, many] = [await ask(1), await ask(40)];
    expect(one.errors).toBeUndefined();
    expect(one.data?.boughtTask?.a0).toMatchObject({ data: { length: input.length } });
    expect(many.errors?.map(({ extensions }) => extensions.code)).toContain('answer_too_large');
  });
});

describe('boughtTasks', () => {
  const listed = async (states: readonly string[], members = 'taskId state') => {
    const query = `query ($states: [TaskState!]) { boughtTasks(states: $states) { total tasks { ${members} } } }`;
    const { data } = await onGraph<{ boughtTasks: { total: number; tasks: JsonObject[] } }>(
      service,
      query,
      { states: [...states] },
      agent.session,
    );
    return data?.boughtTasks;
  };

  it('lists an accepted task as accepted, and not as completed', async () => {
    const path = '/task-request';
    const payment = await service.payment(agent.account, path);
    const { task_id } = (await service.post<Bought>(path, taskOf(agent.account), payment)).body;
    expect(await listed(['accepted'])).toEqual({ total: 1, tasks: [{ taskId: task_id, state: 'accepted' }] });
    const completed = await listed(['completed']);
    expect(completed?.tasks.map(({ taskId }) => taskId)).not.toContain(task_id);
    expect((await listed(['accepted', 'completed']))?.total).toBe((completed?.total ?? 0) + 1);
    const one = await onGraph<{ boughtTask: JsonObject }>(
      service,
      'query ($id: String!) { boughtTask(taskId: $id) { state } }',
      { id: task_id },
      agent.session,
    );
    expect(one.data?.boughtTask).toEqual({ state: 'accepted' });
  });

  it('by key lists an accepted task as accepted', async () => {
    const named_call = { ...KEY, 'Idempotency-Key': 'an-accepted-task' };
    const { task_id } = (await service.post<Bought>('/task-request', taskOf(agent.account), named_call)).body;
    const { data } = await onGraph<{ boughtTasks: { tasks: JsonObject[] } }>(
      service,
      '{ boughtTasks(states: [accepted]) { tasks { taskId state } } }',
      {},
      KEY,
    );
    expect(data?.boughtTasks.tasks).toEqual([{ taskId: task_id, state: 'accepted' }]);
  });

  it('shows no image in a list, since a page of them would be too large; the task itself does', async () => {
    const path = '/v1/images/generations';
    const { svc } = (await service.post<Bought>(path, { prompt: 'Listed' }, await service.payment(agent.account, path)))
      .body;
    const tasks = (await listed(['completed'], 'taskId answer'))?.tasks ?? [];
    expect(tasks.find(({ taskId }) => taskId === svc.task_id)).toEqual({ taskId: svc.task_id, answer: null });
    expect(await read(svc.task_id, { 'X-SVC-Session': agent.session })).not.toBeNull();
  });
});

it('an accepted task on the legacy rail is shown to its buyer as it was answered, its fee without a level of its own', async () => {
  const path = '/task-request';
  const { body: accepted } = await service.post<Bought>(
    path,
    { ...taskOf(agent.account, 'legacy'), payment: { rail: 'tfuel' } },
    await service.payment(agent.account, path),
  );
  const { payment_rail, gross_amount, fee_amount, net_amount, fee_bps } = accepted;
  expect(fee_amount).toEqual(expect.any(String));
  expect(await read(accepted.task_id, { 'X-SVC-Session': agent.session })).toMatchObject({
    payment_rail,
    gross_amount,
    fee_amount,
    net_amount,
    fee_bps,
  });
});
