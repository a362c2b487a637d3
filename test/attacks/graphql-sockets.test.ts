import { type Client, createClient, type ExecutionResult } from 'graphql-ws';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { costly, cycle, tenPages } from '../harness/attacks/documents.ts';
import { openService, type Service } from '../harness/doors/open-service.ts';

let service: Service;
beforeAll(async () => {
  service = await openService({ INTROSPECTION: 'off' });
});

function client(): Client {
  const url = `${service.url.replace('http', 'ws')}/graphql`;
  const opened = createClient({ url, webSocketImpl: WebSocket, retryAttempts: 0 });
  onTestFinished(() => void opened.dispose());
  return opened;
}

interface SocketMessage {
  readonly message: string;
  readonly extensions: JsonObject;
}

/** Runs an operation that must be refused. Returns its errors. The socket stays open. */
async function refused(
  opened: Client,
  query: string,
  variables: Record<string, unknown> = {},
): Promise<SocketMessage[]> {
  const heard: unknown = await new Promise((resolve, reject) => {
    opened.subscribe(
      { query, variables },
      { next: resolve, error: resolve, complete: () => reject(new Error('nothing')) },
    );
  });
  const errors = Array.isArray(heard) ? heard : (heard as ExecutionResult).errors;
  return JSON.parse(JSON.stringify(errors)) as SocketMessage[];
}

async function served(opened: Client): Promise<unknown> {
  for await (const result of opened.iterate({ query: '{ __typename }' })) return result;
  return null;
}

const SET =
  'mutation Set($value: JSON) { setBookPolicy(agentId: 1, policyType: "kill_switch", value: $value) { agentId } }';

describe('over a socket', () => {
  it('what asks for too much is refused, each by its limit, and the socket goes on', async () => {
    const opened = client();
    for (const [name, limit, query] of costly) {
      expect([name, await refused(opened, query)]).toMatchObject([
        name,
        [{ extensions: { code: 'query_too_costly', status: 400, limit } }],
      ]);
    }
    expect(await served(opened)).toEqual({ data: { __typename: 'Query' } });
  });

  it('so is a subscription, and a cycle of fragments', async () => {
    const opened = client();
    const many = Array.from({ length: 200 }, () => 'hash').join(' ');
    expect(await refused(opened, `subscription { bookRows(agentId: 1) { ${many} } }`)).toMatchObject([
      { extensions: { limit: 'repeated_fields' } },
    ]);
    expect(await refused(opened, cycle(7))).toMatchObject([{ message: 'Fragment "f0" spreads itself.' }]);
    expect(await served(opened)).toBeTruthy();
  });

  it('rows that a variable asks for count', async () => {
    const opened = client();
    const query = `query Pages($limit: Int) ${tenPages('$limit')}`;
    expect(await refused(opened, query, { limit: 200 })).toMatchObject([{ extensions: { limit: 'cost' } }]);
    expect((await refused(opened, query, { limit: 5 }))[0]?.extensions.code).toBe('unauthenticated');
  });

  it('variables that are deep, many or poisoned are refused', async () => {
    const opened = client();
    const deep = JSON.parse(`${'['.repeat(2_000)}${']'.repeat(2_000)}`);
    expect(await refused(opened, SET, { value: deep })).toMatchObject([{ extensions: { limit: 'variables_depth' } }]);
    const values = Array.from({ length: 25_000 }, () => 0);
    expect(await refused(opened, SET, { value: values })).toMatchObject([
      { extensions: { limit: 'variables_values' } },
    ]);
    const poisoned = JSON.parse('{"a":{"__proto__":{"polluted":1}}}');
    expect(await refused(opened, SET, { value: poisoned })).toMatchObject([
      { extensions: { code: 'invalid_request' } },
    ]);
    expect(await served(opened)).toBeTruthy();
  });

  it('nothing of the schema is told where introspection is off, and no name is suggested', async () => {
    const opened = client();
    for (const query of [
      '{ __schema { types { name } } }',
      '{ __type(name: "Query") { name } }',
      '{ bok }',
      'subscription { bookRow { seq } }',
      'mutation { registerAgent(input: { agentWalet: "0x" }) { taskId } }',
    ]) {
      const errors = await refused(opened, query);
      expect(errors[0]?.extensions).toMatchObject({ code: 'invalid_request' });
      expect(JSON.stringify(errors)).not.toMatch(/did you mean/i);
    }
  });
});
