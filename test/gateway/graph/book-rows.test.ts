import { type Client, type CloseCode, createClient, type ExecutionResult } from 'graphql-ws';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import WebSocket from 'ws';
import { registrationOf } from '../../harness/buyer.ts';
import {
  ask,
  CHAT,
  type Chat,
  REGISTER,
  type RegistrationAnswer,
  type Service,
  sharedService,
} from '../../harness/doors/open-service.ts';

let service: Service;
beforeAll(async () => {
  service = await sharedService();
});

interface BookRowEvent {
  readonly agentId: number;
  readonly position: number;
  readonly kind: string;
  readonly seq: number;
  readonly taskId: string;
  readonly row: {
    readonly replayCount: number;
    readonly payment: { readonly ref: string; readonly amount: string };
    readonly receipt: {
      readonly taskId: string;
      readonly payloadHash: string;
      readonly bookSeq: number;
      readonly verifyUrl: string;
    };
  };
}
type Answer = ExecutionResult<{ bookRows: BookRowEvent }>;

const QUERY = `subscription Rows($agentId: Int!, $after: Int) { bookRows(agentId: $agentId, after: $after) {
  agentId position kind seq taskId row { replayCount payment { ref amount }
    receipt { taskId payloadHash bookSeq verifyUrl } } } }`;

/** The official client, as an integrator has it. */
function client(session?: string): Client {
  const opened = createClient({
    url: `${service.url.replace(/^http/, 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    retryAttempts: 0,
    ...(session === undefined ? {} : { connectionParams: { session } }),
  });
  onTestFinished(async () => opened.dispose());
  return opened;
}

/** Events of a book from `after` on, each taken when asked for. */
function follow(opened: Client, agentId: number, after?: number) {
  const variables = { agentId, ...(after === undefined ? {} : { after }) };
  const answers = opened.iterate<{ bookRows: BookRowEvent }>({ query: QUERY, variables });
  return {
    answers,
    async take(count: number): Promise<BookRowEvent[]> {
      const taken: BookRowEvent[] = [];
      while (taken.length < count) {
        const { value } = (await answers.next()) as { value: Answer };
        if (!value.data) throw new Error(JSON.stringify(value.errors));
        expect(value.errors).toBeUndefined();
        taken.push(value.data.bookRows);
      }
      return taken;
    },
  };
}

const upTo = (last: number, first = 1) => Array.from({ length: last - first + 1 }, (_, index) => first + index);

describe('bookRows over graphql-ws', () => {
  it('after 0: the past, then what is paid for meanwhile, without gap or double, joined to its receipts', async () => {
    const agent = await service.newAgent();
    await service.buy(agent.account, ask('Before'));
    const feed = follow(client(agent.session), agent.agent_id, 0);
    expect((await feed.take(2)).map(({ position }) => position)).toEqual([1, 2]);

    const paid = Promise.all(Array.from({ length: 30 }, (_, n) => service.buy(agent.account, ask(`Call ${n}`))));
    const late = follow(client(agent.session), agent.agent_id, 0);
    const [live, replayed, heard] = await Promise.all([feed.take(30), late.take(32), paid]);

    expect(live.map(({ position }) => position)).toEqual(upTo(32, 3));
    expect(replayed.map(({ position }) => position)).toEqual(upTo(32));
    expect(replayed.slice(2)).toEqual(live);
    expect(live.map(({ seq }) => seq)).toEqual(upTo(32, 3));
    const receipts = new Map(heard.map(({ body }) => [body.svc.task_id, body.svc]));
    expect(live.map(({ taskId }) => taskId).sort()).toEqual([...receipts.keys()].sort());
    for (const { agentId, kind, taskId, seq, row } of live) {
      const svc = receipts.get(taskId);
      expect({ agentId, kind, row }).toEqual({
        agentId: agent.agent_id,
        kind: 'born',
        row: {
          replayCount: 0,
          payment: { ref: svc?.payment_ref, amount: '2000' },
          receipt: { taskId, payloadHash: svc?.payload_hash, bookSeq: seq, verifyUrl: svc?.verify_url },
        },
      });
    }
  });

  it('after a position: what came since, and nothing before it', async () => {
    const agent = await service.newAgent();
    const { svc } = (await service.buy(agent.account)).body;
    const [event] = await follow(client(agent.session), agent.agent_id, 1).take(1);
    expect(event).toMatchObject({ position: 2, taskId: svc.task_id });
  });

  it('without after: new events only; a replayed payment is one, of the same row', async () => {
    const agent = await service.newAgent();
    const payment = await service.payment(agent.account, CHAT);
    const { svc } = (await service.post<Chat>(CHAT, ask('Again'), payment)).body;
    const opened = client(agent.session);
    const feed = follow(opened, agent.agent_id);
    const first = feed.take(1);
    // A second subscription on the socket that has answered says that the first one is being followed.
    await follow(opened, agent.agent_id, 1).take(1);
    await service.post<Chat>(CHAT, ask('Again'), payment);
    expect(await first).toEqual([
      expect.objectContaining({
        position: 3,
        kind: 'replay',
        seq: 2,
        taskId: svc.task_id,
        row: expect.objectContaining({ replayCount: 1 }),
      }),
    ]);
  });

  it('a wrong session is refused at the door: 4403', async () => {
    const opened = client('svcs_guessed');
    const closed = new Promise<CloseCode>(resolve => opened.on('closed', event => resolve((event as CloseEvent).code)));
    const refused = expect(follow(opened, 1, 0).answers.next()).rejects.toMatchObject({ code: 4403 });
    expect(await closed).toBe(4403);
    await refused;
  });

  it("without a session and on another agent's book it is refused, and the socket stays open", async () => {
    const [agent, other] = [await service.newAgent(), await service.newAgent()];
    const refusal = async (opened: Client) => {
      const { answers } = follow(opened, agent.agent_id, 0);
      const { value } = await answers.next();
      expect(await answers.next()).toMatchObject({ done: true });
      return (value as Answer).errors?.[0]?.extensions?.code;
    };
    expect(await refusal(client())).toBe('unauthenticated');
    const opened = client(other.session);
    expect(await refusal(opened)).toBe('forbidden');
    expect(await follow(opened, other.agent_id, 0).take(1)).toEqual([expect.objectContaining({ position: 1 })]);
  });

  it('a session that has ended hears nothing more: 4403 in place of the next event', async () => {
    const agent = await service.newAgent();
    const opened = client(agent.session);
    const closed = new Promise<CloseCode>(resolve => opened.on('closed', event => resolve((event as CloseEvent).code)));
    const feed = follow(opened, agent.agent_id, 0);
    await feed.take(1);
    const next = feed.answers.next().then(
      ({ value }) => value?.data?.bookRows ?? null,
      () => null,
    );
    const recovery = await registrationOf(agent.account, { task_id: agent.task_id });
    const { session } = (await service.post<RegistrationAnswer>(REGISTER, recovery)).body;
    await service.buy(agent.account);
    expect(await closed).toBe(4403);
    expect(await next).toBeNull();
    expect((await follow(client(session), agent.agent_id, 1).take(1))[0]).toMatchObject({ position: 2 });
  });
});
