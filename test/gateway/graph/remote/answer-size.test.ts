import { createServer } from 'node:net';
import type { ExecutionResult } from 'graphql';
import { parse } from 'graphql';
import { Arg, Ctx, Int, Query, Resolver, Root, Subscription } from 'type-graphql';
import { beforeAll, describe, expect, it } from 'vitest';
import { callKey, uploadsOf } from '../../../../gateway/graph/remote/call.ts';
import { CallGate } from '../../../../gateway/graph/remote/call-gate.ts';
import { RemoteSource } from '../../../../gateway/graph/remote/remote-source.ts';
import { openSubgraphServer } from '../../../../gateway/graph/remote/server.ts';
import { limits } from '../../../../schema/limits.ts';
import { nobody } from '../../../../schema/principal.ts';
import { systemClock, systemRandom } from '../../../../subgraphs/clock.ts';
import { type Context, ResponseHeaders } from '../../../../subgraphs/context.ts';
import { buildSubgraph } from '../../../../subgraphs/subgraph.ts';
import { Uploads } from '../../../../subgraphs/uploads.ts';
import { openVault } from '../../../../subgraphs/vault.ts';
import { logTo } from '../../../harness/graph/shop.ts';
import { atEnd } from '../../../harness/release.ts';

/* An answer that fits as data, but not with what a remote subgraph writes around it: the gateway would hang up on it. */

const MAX = limits.graphql_answer_bytes_max;

@Resolver()
class TextResolver {
  @Query(() => String)
  text(@Arg('chars', () => Int) chars: number, @Ctx() { response }: Context): string {
    response.headers['PAYMENT-RESPONSE'] = 'settled';
    return 'x'.repeat(chars);
  }

  @Subscription(() => String, {
    async *subscribe({ args }) {
      for (const chars of [1, args.chars, 2]) yield 'x'.repeat(chars);
    },
  })
  texts(@Root() text: string, @Arg('chars', () => Int) _chars: number): string {
    return text;
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise(resolve => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

let source: RemoteSource;
beforeAll(async () => {
  const secret = 'a secret between processes';
  const [key, vault, clock] = [callKey(secret), openVault(secret), systemClock];
  const subgraph = await buildSubgraph('texts', { resolvers: [TextResolver] });
  const gateOf = (name: string) => new CallGate({ key, subgraph: name, clock });
  const server = openSubgraphServer({
    subgraph,
    gate: gateOf('texts'),
    files: { gate: gateOf(uploadsOf('texts')), uploads: new Uploads() },
    vault,
    createContext: (principal, brought) =>
      ({ ...brought, database: {}, principal, response: new ResponseHeaders() }) as unknown as Context,
    pages: {},
    logger: logTo([]),
  });
  const port = await freePort();
  await server.listen('127.0.0.1', port);
  const url = `http://127.0.0.1:${port}`;
  source = new RemoteSource(subgraph, { url, key, vault, paid: new Map(), clock, random: systemRandom });
  atEnd(async () => {
    await source.close();
    await server.close();
  });
});

function runQuery(query: string, chars: number) {
  const context = {
    principal: nobody,
    payment: null,
    redelivery: null,
    idempotency_key: null,
    delegation: null,
    note: null,
    response: new ResponseHeaders(),
  };
  return { document: parse(query), variables: { chars }, context };
}

/** The lengths of the texts, or the codes of the errors. */
const lengthsOf = ({ data, errors }: ExecutionResult) =>
  errors ? errors.map(({ extensions }) => extensions.code) : Object.values(data ?? {}).map(text => String(text).length);

const TEXT = 'query ($chars: Int!) { text(chars: $chars) }';
const TEXTS = 'subscription ($chars: Int!) { texts(chars: $chars) }';
const most = (field: string) => MAX - JSON.stringify({ data: { [field]: '' } }).length;

describe('the answer of a subgraph elsewhere', () => {
  it('that is too large as it is written is answer_too_large in its place, and says that it was charged', async () => {
    const chars = most('text');
    const headroom = 1_024;
    expect(lengthsOf(await source.execute(runQuery(TEXT, chars - headroom)))).toEqual([chars - headroom]);
    const { data, errors } = await source.execute(runQuery(TEXT, chars));
    expect(data).toBeNull();
    expect(errors).toMatchObject([{ extensions: { code: 'answer_too_large', max: MAX, charged: true } }]);
  });

  it('as an event likewise, and the events behind it come', async () => {
    const told_of = async (chars: number) => {
      const results = await source.subscribe(runQuery(TEXTS, chars));
      if (!(Symbol.asyncIterator in results)) throw new Error(`refused: ${lengthsOf(results)}`);
      const heard: unknown[] = [];
      for await (const result of results) heard.push(lengthsOf(result));
      return heard;
    };
    const chars = most('texts');
    const framed = 'data: \n\n'.length;
    expect(await told_of(chars - framed)).toEqual([[1], [chars - framed], [2]]);
    expect(await told_of(chars)).toEqual([[1], ['answer_too_large'], [2]]);
  });
});
