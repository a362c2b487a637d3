import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { secretAnswers } from '../../gateway/graph/write-once.ts';
import { acceptsIdempotencyKey, type Door } from '../../rest-compat/door.ts';
import { everyDoor } from '../../rest-compat/every-door.ts';
import { canonicalHash, type JsonObject } from '../../schema/canonical-json.ts';
import { INGEST_KEY_BYTES, ingestKey } from '../../schema/router/ingest-key.ts';
import { JOBS, jobOf } from '../harness/board/jobs.ts';
import { payingFetch } from '../harness/buyer.ts';
import { insertPost } from '../harness/doors/board-posts.ts';
import {
  bodiesOf,
  createObjects,
  type DoorObjects,
  fingerprints,
  hasMutation,
  pathWith,
} from '../harness/doors/door-walk.ts';
import { openService, type Service } from '../harness/doors/open-service.ts';
import { hex32, nowSeconds, signAct } from '../harness/session/delegate.ts';
import { bindRoot, sessionPath } from '../harness/session/trees.ts';
import { untilHolds } from '../harness/until-holds.ts';

type Agent = Awaited<ReturnType<Service['newAgent']>>;

let service: Service;
let agent: Agent;
let other: Agent;
let things: DoorObjects;
/** Jobs for requests that end them, by the name of the endpoint. */
const brought: Record<string, Pick<DoorObjects, 'job_id'>[]> = {};
beforeAll(async () => {
  service = await openService();
  agent = await service.newAgent();
  other = await service.newAgent();
  things = await createObjects(service, agent, other);
  // Two jobs for each endpoint, one for each walk, because later the agent's policy prevents it from buying stamps.
  brought.cancel_job = [await postedJob(), await postedJob()];
  brought.refuse_delivery = [await deliveredJob(), await deliveredJob()];
});

let keys = 0;
const newKey = () => `key ${++keys}`.replace(' ', '-');
const by = (who: Agent, key: string) => ({ 'X-SVC-Session': who.session, 'Idempotency-Key': key });
const inflow = (who: Agent, key: string, body: JsonObject = { allocation: '7' }) =>
  service.post(`/v1/agents/${who.agent_id}/book/inflow`, body, by(who, key));
const inflowsOf = async ({ agent_id }: Agent) =>
  (
    await service.query<{ rows: number }>(
      `select count(*)::int as rows from book_row where agent_id = $1 and evidence = 'inflow_claimed'`,
      [agent_id],
    )
  )[0]?.rows ?? 0;

describe('an inflow under an Idempotency-Key', () => {
  it('is one however often it is sent: the same answer, told as a replay', async () => {
    const [key, before] = [newKey(), await inflowsOf(agent)];
    const first = await inflow(agent, key);
    const again = await inflow(agent, key);
    expect([first.status, again.status]).toEqual([201, 201]);
    expect(again.body).toEqual(first.body);
    expect(first.headers.has('x-svc-settlement-status')).toBe(false);
    expect(again.headers.get('x-svc-settlement-status')).toBe('idempotent_replay');
    expect(await inflowsOf(agent)).toBe(before + 1);
  });

  it('is one of twelve that come at once: the others are told to come again, and then have it', async () => {
    const [key, before] = [newKey(), await inflowsOf(agent)];
    const heard = await Promise.all(Array.from({ length: 12 }, () => inflow(agent, key)));
    for (const { status, body } of heard)
      expect(status === 201 || body.code === 'idempotency_key_in_flight', JSON.stringify(body)).toBe(true);
    const recorded = heard.filter(({ status }) => status === 201).map(({ body }) => body.task_id);
    expect(new Set(recorded).size).toBe(1);
    expect((await inflow(agent, key)).body.task_id).toBe(recorded[0]);
    expect(await inflowsOf(agent)).toBe(before + 1);
  });

  it('409 idempotency_key_conflict with another body; 201 for another agent', async () => {
    const [key, before] = [newKey(), await inflowsOf(agent)];
    await inflow(agent, key);
    expect(await inflow(agent, key, { allocation: '8' })).toMatchObject({
      status: 409,
      body: { code: 'idempotency_key_conflict' },
    });
    expect((await inflow(other, key)).status).toBe(201);
    expect(await inflowsOf(agent)).toBe(before + 1);
  });

  it('leaves its key free where it is refused, and takes none that is no key', async () => {
    const key = newKey();
    const taken = { allocation: '7', task_id: things.inflow_task_id };
    expect((await inflow(agent, key, taken)).status).toBe(409);
    expect((await inflow(agent, key)).status).toBe(201);
    expect(await inflow(agent, 'two words')).toMatchObject({
      status: 400,
      body: { error: { param: 'Idempotency-Key' } },
    });
  });

  it('409 idempotency_answer_gone where its answer was lost: it is not done again', async () => {
    const [key, before] = [newKey(), await inflowsOf(agent)];
    await inflow(agent, key);
    await service.query(`update written_once set answer_box = null, written_at = now() - interval '1 hour'`);
    expect(await inflow(agent, key)).toMatchObject({ status: 409, body: { code: 'idempotency_answer_gone' } });
    expect(await inflowsOf(agent)).toBe(before + 1);
  });

  it('is done anew after a day', async () => {
    const [key, before] = [newKey(), await inflowsOf(agent)];
    await inflow(agent, key);
    await service.query(`update written_once set written_at = now() - interval '25 hours'`);
    expect((await inflow(agent, key, { allocation: '9' })).status).toBe(201);
    expect(await inflowsOf(agent)).toBe(before + 2);
  });

  it('is one by GraphQL, too, and its answer says so', async () => {
    const [key, before] = [newKey(), await inflowsOf(agent)];
    const query = `mutation { recordInflow(agentId: ${agent.agent_id}, input: {allocation: "7"}) { taskId } }`;
    const ask = () => service.post<{ data: JsonObject }>('/graphql', { query }, by(agent, key));
    const [first, again] = [await ask(), await ask()];
    expect(first.body.data).toHaveProperty('recordInflow.taskId');
    expect(again.body.data).toEqual(first.body.data);
    expect(await inflowsOf(agent)).toBe(before + 1);
  });

  it('429 beyond the room of its caller', async () => {
    await service.query(
      `insert into written_once (mark, credential_mark, request_hash, attempt, written_at)
        select 'full ' || n, credential_mark, '', '', now()
        from generate_series(1, 1000) n, (select credential_mark from written_once order by written_at desc limit 1) c`,
    );
    const refused = await inflow(agent, newKey());
    expect(refused).toMatchObject({ status: 429, body: { code: 'rate_limited' } });
    expect(refused.headers.has('retry-after')).toBe(true);
    await service.query(`delete from written_once where mark like 'full %'`);
  });
});

describe('a request under an Idempotency-Key', () => {
  const book = () => `/v1/agents/${other.agent_id}/book`;
  const ofBook = (said: JsonObject) => ({ agentId: other.agent_id, ...said });

  it.each<[string, () => string, () => JsonObject, () => JsonObject]>([
    ['a budget', book, () => ({ budget: '5' }), () => ofBook({ budgetAtomic: '5', limit: 50 })],
    [
      'an export to publish',
      () => `${book()}/export/publish`,
      () => ({ limit: 1_000 }),
      () => ofBook({ filter: {}, format: null, limit: 1_000, subjectTaskId: null }),
    ],
    [
      'an escrow',
      () => `${book()}/escrow`,
      () => ({ action: 'open', task_id: other.task_id }),
      () => ofBook({ input: { taskId: other.task_id } }),
    ],
  ])('is known by the same hash as in the version before: %s', async (_, path, body, variables) => {
    await service.query('delete from written_once');
    const heard = await service.post(path(), body(), by(other, newKey()));
    expect(heard.status, heard.text).toBeLessThan(300);
    expect(await service.query('select request_hash from written_once')).toEqual([
      { request_hash: canonicalHash({ endpoint: service.url + path(), variables: variables() }) },
    ]);
  });

  it('is known so, too, where its author is named by the session alone', async () => {
    await service.query('delete from written_once');
    const post_id = await insertPost(service, { agent_id: other.agent_id });
    const path = `/v1/board/posts/${post_id}/takedown`;
    expect(await service.post(path, {}, by(other, newKey()))).toMatchObject({ status: 200 });
    expect(await service.query('select request_hash from written_once')).toEqual([
      { request_hash: canonicalHash({ endpoint: service.url + path, variables: { agentId: null, postId: post_id } }) },
    ]);
  });
});

describe('a like under an Idempotency-Key', () => {
  it('is not taken back by a retry', async () => {
    const [key, path] = [newKey(), `/v1/board/posts/${things.post_id}/like`];
    const like = () => service.post(path, {}, by(other, key));
    const [first, again] = [await like(), await like()];
    expect(first).toMatchObject({ status: 200, body: { liked: true } });
    expect(again.body).toEqual(first.body);
    expect((await service.post(path, {}, by(other, newKey()))).body).toMatchObject({ liked: false });
  });
});

describe('whoever shows nothing that holds', () => {
  const made = () => ({ Authorization: `Bearer ${ingestKey(randomBytes(INGEST_KEY_BYTES))}` });
  const kept = () => service.query<{ mark: string; credential_mark: string }>('select * from written_once');

  it('has the room of an address, whatever tokens of their own making they show, and keeps an answer of what was opened', async () => {
    await service.query('delete from written_once');
    const session = await bindRoot(service, agent.account);
    const path = sessionPath(session.delegation_hash, 'act');
    const targets = [agent, other];
    for (const { agent_id } of targets) {
      const resource = `receipt/${session.task_id}`;
      const body = await signAct(session, { action: 'handoff', resource, target_agent: agent_id });
      expect((await service.post(path, body, { ...made(), 'Idempotency-Key': newKey() })).status).toBe(200);
    }
    const rows = await kept();
    expect(rows).toHaveLength(targets.length);
    expect(new Set(rows.map(({ credential_mark }) => credential_mark)).size).toBe(1);
  });

  it.each([
    ['asks for the name of the type alone', 'mutation { __typename }', true],
    ['has skipped what is asked', 'mutation { __typename cancelJob(jobId: "any") @skip(if: true) { jobId } }', false],
  ])('keeps nothing where the request %s', async (_, query, by_session_too) => {
    const before = await kept();
    const shown = [made(), {}, ...(by_session_too ? [by(agent, newKey())] : [])];
    for (const more of shown) {
      const heard = await service.post('/graphql', { query }, { 'Idempotency-Key': newKey(), ...more });
      expect(heard.body).toEqual({ data: { __typename: 'Mutation' } });
    }
    expect(await kept()).toEqual(before);
  });
});

interface ReadAct {
  readonly nonce: string;
  readonly deadline: number;
  readonly signature: string;
}

describe('a private read under an Idempotency-Key', () => {
  const acting = (query: string, variables: JsonObject, key: string) =>
    service.post<JsonObject>('/graphql', { query, variables }, { 'Idempotency-Key': key });

  it.each([
    [
      'in literals',
      (hash: string, { nonce, deadline, signature }: ReadAct) => ({
        query: `mutation { actInSession(delegationHash: "${hash}", input: {
          action: "read_private", resource: "book", nonce: "${nonce}", deadline: ${deadline}, signature: "${signature}" }) { read } }`,
        variables: {},
      }),
    ],
    [
      'as the default of a variable',
      (hash: string, { nonce, deadline, signature }: ReadAct) => ({
        query: `mutation ($action: String! = "read_private", $signature: String!) {
          ...on Mutation { it: actInSession(delegationHash: "${hash}", input: {
            action: $action, resource: "book", nonce: "${nonce}", deadline: ${deadline}, signature: $signature }) { read } } }`,
        variables: { signature },
      }),
    ],
    [
      'in the default of its whole input',
      (hash: string, { nonce, deadline, signature }: ReadAct) => ({
        query: `mutation ($input: SessionActInput! = { action: """read_private""", resource: "book",
          nonce: "${nonce}", deadline: ${deadline}, signature: "${signature}" }) {
          actInSession(delegationHash: "${hash}", input: $input) { read } }`,
        variables: {},
      }),
    ],
  ])('is served once where its action is written %s', async (_, written) => {
    const session = await bindRoot(service, agent.account);
    const { nonce, deadline, signature } = {
      nonce: hex32(),
      deadline: nowSeconds() + 200,
      ...(await signAct(session, { action: 'read_private', resource: 'book' })),
    };
    const { query, variables } = written(session.delegation_hash, { nonce, deadline, signature });
    const key = newKey();
    const first = await acting(query, variables, key);
    expect(JSON.stringify(first.body), first.text).toContain(session.task_id);
    expect(await acting(query, variables, key)).toMatchObject({
      body: { errors: [{ extensions: { code: 'act_nonce_used' } }] },
    });
  });
});

/* Every free endpoint that writes, taken from the table so that later ones are included. */

const once = everyDoor.filter(door => acceptsIdempotencyKey(door) && hasMutation(door));
const opened = once.filter(({ possession }) => possession !== 'none' && possession !== 'offered');
/** Bodies with which the walk writes. A request that only reads accepts no key. */
const writingBodies = (door: Door) => bodiesOf(door, things).filter(({ action }) => action !== 'status');
/** Waits until no report is being made in the background. */
const untilQuiet = () =>
  untilHolds(async () =>
    expect(await service.query(`select 1 from reconciliation where state = 'running'`)).toHaveLength(0),
  );
const send = (door: Door, body: JsonObject, key: string, of: Partial<DoorObjects> = {}) =>
  service.knock(door.methods.find(method => method !== 'GET') ?? 'POST', pathWith(door.path, { ...things, ...of }), {
    headers: by(agent, key),
    body,
  });

async function stamped<T>(who: Agent, path: string, body: JsonObject): Promise<T> {
  const sent = { body, headers: { 'X-SVC-Session': who.session }, by: payingFetch(who.account) };
  const heard = await service.knock<T>('POST', path, sent);
  expect(heard.status, heard.text).toBe(201);
  return heard.body;
}

async function postedJob(): Promise<Pick<DoorObjects, 'job_id'>> {
  const { job_id } = await stamped<Pick<DoorObjects, 'job_id'>>(agent, JOBS, jobOf());
  return { job_id };
}

/** A delivered job. Its output hash is the one that the walk refuses. */
async function deliveredJob(): Promise<Pick<DoorObjects, 'job_id'>> {
  const job = await postedJob();
  const path = `${JOBS}/${job.job_id}`;
  const { bid_id } = await stamped<{ bid_id: string }>(other, `${path}/bid`, { price: '1500001' });
  const step = async (who: Agent, action: string, body: JsonObject) => {
    const heard = await service.post(`${path}/${action}`, body, { 'X-SVC-Session': who.session });
    expect(heard.status, heard.text).toBe(200);
  };
  await step(agent, 'pick', { bid_id });
  await step(other, 'deliver', { output_sha256: '0'.repeat(64) });
  return job;
}

/** Endpoints for which a body was accepted and sent again. */
const walked = new Set<string>();

describe('each endpoint that writes and is not paid for', () => {
  it('takes a key unless its answer holds a secret', () => {
    const secret = everyDoor.filter(({ tool }) => 'none' in tool && tool.none === 'returns_secret');
    const fields = secret.flatMap(door =>
      door.kind === 'document' && hasMutation(door)
        ? door.documents.flatMap(({ definitions }) =>
            definitions.flatMap(it =>
              it.kind === 'OperationDefinition' && it.operation === 'mutation'
                ? it.selectionSet.selections.flatMap(field => (field.kind === 'Field' ? [field.name.value] : []))
                : [],
            ),
          )
        : [],
    );
    expect(new Set(fields)).toEqual(secretAnswers);
  });

  it.each(opened.map(door => [door.name, door] as const))(
    '%s: dies before its answer is kept, and is not done again under its key',
    async (_, door) => {
      // The answer cannot be stored, because the key was stored in the transaction that wrote.
      await service.query('alter table written_once add constraint no_answer check (answer_box is null) not valid');
      try {
        for (const body of writingBodies(door)) {
          const key = newKey();
          const of = brought[door.name]?.pop();
          const first = await send(door, body, key, of);
          if (first.status >= 300) continue;
          await untilQuiet();
          const before = await fingerprints(service);
          const again = await send(door, body, key, of);
          expect(again, first.text).toMatchObject({ status: 409, body: { code: 'idempotency_key_in_flight' } });
          expect(await fingerprints(service)).toEqual(before);
        }
      } finally {
        await service.query('alter table written_once drop constraint no_answer');
      }
    },
  );

  it.each(opened.map(door => [door.name, door] as const))('%s: is answered as before', async (_, door) => {
    for (const body of writingBodies(door)) {
      const key = newKey();
      const of = brought[door.name]?.pop();
      const first = await send(door, body, key, of);
      if (first.status >= 300) continue;
      await untilQuiet();
      const before = await fingerprints(service);
      const again = await send(door, body, key, of);
      walked.add(door.name);
      expect(again.headers.get('x-svc-settlement-status')).toBe('idempotent_replay');
      expect(again.status).toBeLessThan(300);
      expect({ ...again.body, idempotent_replay: null }).toEqual({ ...first.body, idempotent_replay: null });
      expect(await fingerprints(service)).toEqual(before);
    }
  });

  it('is carried out by the walk, but for what wants another party or a receiver', () => {
    const not_walked = opened.map(({ name }) => name).filter(name => !walked.has(name));
    expect(not_walked.toSorted()).toEqual([
      'challenge_job',
      'confirm_post',
      'deliver_job',
      'like_post',
      'pick_bid',
      'ping_webhook',
      'redeliver_webhook',
      'reveal_job',
    ]);
  });
});
