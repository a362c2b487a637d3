import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buildSchema, type ExecutionResult, parse } from 'graphql';
import { beforeAll, describe, expect, it } from 'vitest';
import { callKey } from '../../../../gateway/graph/remote/call.ts';
import { END, EVENT_STREAM, eventFrame } from '../../../../gateway/graph/remote/event-stream.ts';
import { isUnsent } from '../../../../gateway/graph/remote/pools.ts';
import { RemoteSource } from '../../../../gateway/graph/remote/remote-source.ts';
import { limits } from '../../../../schema/limits.ts';
import { nobody } from '../../../../schema/principal.ts';
import { systemClock, systemRandom } from '../../../../subgraphs/clock.ts';
import { type Context, ResponseHeaders } from '../../../../subgraphs/context.ts';
import { openVault } from '../../../../subgraphs/vault.ts';
import { atEnd } from '../../../harness/release.ts';

/* What a gateway makes of a subgraph that answers as none of ours does, or not at all. */

type Behaviour = (response: ServerResponse) => unknown;

let behave: Behaviour;
let source: RemoteSource;
let nowhere: RemoteSource;
beforeAll(async () => {
  const server = createServer((request, response) => {
    request.resume().once('end', () => behave(response));
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  atEnd(() => {
    server.close();
    server.closeAllConnections();
  });
  source = sourceAt((server.address() as AddressInfo).port);
  nowhere = sourceAt(1);
});

function sourceAt(port: number): RemoteSource {
  const schema = buildSchema('type Query { read: Int } type Mutation { buy: Int } type Subscription { rows: Int }');
  const opened = new RemoteSource(
    { name: 'shop', schema },
    {
      url: `http://127.0.0.1:${port}`,
      key: callKey('a secret between processes'),
      vault: openVault('a secret between processes'),
      paid: new Map([['buy', '2000']]),
      clock: systemClock,
      random: systemRandom,
    },
  );
  atEnd(() => opened.close());
  return opened;
}

const read = parse('{ read }');
const buy = parse('mutation { buy }');
const rows = parse('subscription { rows }');

function contextOf(pays: boolean): Context {
  const payment = pays ? { x402_version: 1, envelope: {} } : null;
  return { principal: nobody, payment, response: new ResponseHeaders() } as unknown as Context;
}

const codesOf = ({ errors = [] }: ExecutionResult) => errors.map(({ extensions }) => extensions.code);

/** Of a paid field with a payment, of the same without one, and of one that is free. */
async function codes(of: RemoteSource): Promise<unknown[]> {
  const asked = [
    of.execute({ document: buy, variables: {}, context: contextOf(true) }),
    of.execute({ document: buy, variables: {}, context: contextOf(false) }),
    of.execute({ document: read, variables: {}, context: contextOf(true) }),
  ];
  const results = await Promise.all(asked);
  for (const { errors = [] } of results)
    for (const { extensions } of errors) expect(extensions).not.toHaveProperty('charged');
  return results.flatMap(codesOf);
}

const whole =
  (text: string, status = 200) =>
  (response: ServerResponse) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(text);

describe('a subgraph that was asked and gave no answer of its own', () => {
  it.each<[string, Behaviour]>([
    ['hangs up', response => response.destroy()],
    ['hangs up in the midst of its answer', response => response.write('{"headers"', () => response.destroy())],
    ['says 502, as a proxy before it would', whole('', 502)],
    ['says 200 and nothing that is an answer', whole('<html>')],
    ['says 200 and another JSON', whole('{"data":{"buy":1}}')],
    ['says 402 without an answer', whole('{}', 402)],
    ['says more than an answer may be', whole('x'.repeat(limits.subgraph_answer_bytes_max + 1))],
  ])('%s: whether money moved is not known, and without any it is unavailable', async (_, behaviour) => {
    behave = behaviour;
    expect(await codes(source)).toEqual(['settlement_pending', 'unavailable', 'unavailable']);
  });
});

describe('a subgraph that did nothing', () => {
  it('401, as it does not know us: unavailable', async () => {
    behave = whole('', 401);
    expect(await codes(source)).toEqual(['unavailable', 'unavailable', 'unavailable']);
  });

  it('is not there: unavailable', async () => {
    expect(await codes(nowhere)).toEqual(['unavailable', 'unavailable', 'unavailable']);
  });

  it.each([
    ['ECONNREFUSED', 'connect', true],
    ['EHOSTUNREACH', 'connect', true],
    ['ENOTFOUND', 'getaddrinfo', true],
    ['UND_ERR_CONNECT_TIMEOUT', undefined, true],
    ['EHOSTUNREACH', 'read', false],
    ['ENETUNREACH', 'write', false],
    ['ECONNRESET', 'read', false],
    ['UND_ERR_SOCKET', undefined, false],
  ])('%s of a %s: that it cannot have heard of the call is %s', (code, syscall, unsent) => {
    expect(isUnsent(Object.assign(new Error(code), { code, ...(syscall && { syscall }) }))).toBe(unsent);
  });
});

describe('events of a subgraph', () => {
  const event = (data: object) => eventFrame(JSON.stringify(data));
  const row = (rows: number) => event({ data: { rows } });
  const say = (text: string, then: Behaviour = () => {}) => {
    behave = response => {
      response.writeHead(200, { 'content-type': EVENT_STREAM });
      response.write(event({ 'x-svc-task-id': 'task_1' }) + text, () => then(response));
    };
  };

  async function subscribed(pays = false) {
    const context = contextOf(pays);
    const results = await source.subscribe({ document: rows, variables: {}, context });
    if (!(Symbol.asyncIterator in results)) throw new Error(`refused: ${codesOf(results)}`);
    return { results: results[Symbol.asyncIterator](), headers: context.response.headers };
  }

  async function all(results: AsyncIterator<ExecutionResult>): Promise<unknown[]> {
    const heard: unknown[] = [];
    for (let next = await results.next(); !next.done; next = await results.next())
      heard.push(next.value.errors ? codesOf(next.value) : next.value.data);
    return heard;
  }

  it('come one by one behind their headers, to the end that the subgraph says', async () => {
    say(`${row(1)}:\n\n${row(2)}${eventFrame(END)}`);
    const { results, headers } = await subscribed();
    expect(headers).toEqual({ 'x-svc-task-id': 'task_1' });
    expect(await all(results)).toEqual([{ rows: 1 }, { rows: 2 }]);
  });

  it.each<[string, string, Behaviour]>([
    ['breaks off', row(1), response => response.destroy()],
    ['ends without saying so', row(1), response => response.end()],
    ['sends what is no result', `${row(1)}data: {"data"\n\n`, () => {}],
    ['sends an event without an end', `${row(1)}data: ${'x'.repeat(limits.subgraph_event_chars_max + 1)}`, () => {}],
  ])('a stream that %s ends with an error, never in silence', async (_, text, then) => {
    say(text, then);
    expect(await all((await subscribed()).results)).toEqual([{ rows: 1 }, ['unavailable']]);
  });

  it('a reader who leaves while he waits hangs up on the subgraph, and hears nothing more', async () => {
    const left = Promise.withResolvers<unknown>();
    say(row(1), response => left.resolve(once(response, 'close')));
    const { results } = await subscribed();
    expect(await results.next()).toMatchObject({ value: { data: { rows: 1 } } });
    const waiting = results.next();
    await results.return?.();
    expect(await waiting).toMatchObject({ done: true });
    await await left.promise;
  });
});
