import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { beforeAll, describe, expect, it } from 'vitest';
import { onGraph } from '../harness/doors/on-graph.ts';
import { ask, type Chat, openService, type Service, sharedService } from '../harness/doors/open-service.ts';
import { LogFollower } from '../harness/log/follower.ts';
import { leafOf, openCheckpoint, openProof } from '../harness/log/note.ts';

let service: Service;
let key: string;
let chat: Chat;
beforeAll(async () => {
  service = await openService({ LOG_ENTRIES: 'public' }, { meant: /does not extend what was signed/ });
  const account = await service.chain.newWallet();
  for (const content of ['one', 'two']) chat = (await service.buy(account, ask(content))).body;
  [key = ''] = (await service.get<string>('/log/verifier-keys')).body.split('\n');
});

const notFound = { status: 404, body: { code: 'not_found' } };

async function bytesAt(path: string): Promise<Buffer | null> {
  const answer = await fetch(`${service.url}/log/${path}`);
  return answer.status === 200 ? Buffer.from(await answer.arrayBuffer()) : null;
}

describe('GET /log/checkpoint', () => {
  it('200: a signed note that names the log by its URL, and is asked for anew within seconds', async () => {
    const { status, headers, body } = await service.get<string>('/log/checkpoint');
    expect([status, headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
    expect(headers.get('cache-control')).toBe('public, max-age=2');
    expect(openCheckpoint(body, key)).toMatchObject({ origin: `${new URL(service.url).host}/log`, size: 2 });
  });

  it('200 for a head that was signed, 404 for one that was not', async () => {
    expect(openCheckpoint((await service.get<string>('/log/checkpoint?tree_size=1')).body, key).size).toBe(1);
    expect(await service.get('/log/checkpoint?tree_size=9')).toMatchObject(notFound);
  });

  it.each(['0', '-1', 'x', '2147483648'])('400 for a tree_size of %s', async size => {
    expect(await service.get(`/log/checkpoint?tree_size=${size}`)).toMatchObject({
      status: 400,
      body: { code: 'invalid_request' },
    });
  });
});

describe('GET /log/tile/{level}/{path}', () => {
  it('200: by its tiles alone the log is computed and found to be the one of its checkpoint', async () => {
    expect(await new LogFollower(bytesAt, key).follow()).toMatchObject({ size: 2 });
  });

  it('200 with bytes that may be kept for good', async () => {
    const heard = await fetch(`${service.url}/log/tile/0/000.p/2`);
    const told = ['content-type', 'cache-control', 'content-length'].map(name => heard.headers.get(name));
    expect([heard.status, ...told]).toEqual([
      200,
      'application/octet-stream',
      'public, max-age=31536000, immutable',
      '64',
    ]);
    await heard.arrayBuffer();
  });

  it.each(['0/000', '0/000.p/3', '1/000', '0/0', '64/000', '0/x000/000', '9/x'])(
    '404 for %s: not there, or no tile',
    async path => {
      const heard = await service.get(`/log/tile/${path}`);
      expect(heard).toMatchObject(notFound);
      expect(heard.headers.get('cache-control')).toBe('no-store');
    },
  );

  it('a tile that was not there yet is there once the log has grown', async () => {
    expect(await service.get('/log/tile/0/000.p/3')).toMatchObject(notFound);
    await service.buy(await service.chain.newWallet(), ask('three'));
    expect((await bytesAt('tile/0/000.p/3'))?.length).toBe(96);
  });
});

describe('GET /log/tile/{level}/{path} that announces a body, which nobody reads', () => {
  it('200 with its bytes all the same, and the connection is closed', async () => {
    const headers = { 'content-type': 'application/json', 'content-length': '1000000' };
    const asked = request(`${service.url}/log/tile/0/000.p/2`, { method: 'GET', headers });
    asked.on('error', () => {});
    asked.flushHeaders();
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    expect([answer.statusCode, answer.headers.connection, answer.headers['content-length']]).toEqual([
      200,
      'close',
      '64',
    ]);
    expect(await buffer(answer)).toEqual(await bytesAt('tile/0/000.p/2'));
  });
});

describe('GET /log/tile/entries/{path}', () => {
  it('200 where LOG_ENTRIES is public: each entry hashes to its leaf', async () => {
    const bundle = (await bytesAt('tile/entries/000.p/1')) ?? Buffer.alloc(0);
    expect(bundle.readUInt16BE(0)).toBe(bundle.length - 2);
    expect(Buffer.from(leafOf(bundle.subarray(2)))).toEqual(await bytesAt('tile/0/000.p/1'));
  });

  it('404 where it is not: what leaves are of names wallets', async () => {
    const closed = await sharedService();
    await closed.buy(await closed.chain.newWallet(), ask('one'));
    expect((await fetch(`${closed.url}/log/tile/0/000.p/1`)).status).toBe(200);
    expect(await closed.get('/log/tile/entries/000.p/1')).toMatchObject(notFound);
  });

  it('404 for entries that are not there', async () => {
    expect(await service.get('/log/tile/entries/000')).toMatchObject(notFound);
  });
});

describe('logTile and logEntryBundle on the graph', () => {
  const onGraphOf = async (from: Service, field: string) => (await onGraph(from, `{ it: ${field} }`)).data?.it;

  it('are the bytes of the doors, in base64', async () => {
    for (const [field, path] of [
      ['logTile(level: "0", path: "000.p/2")', 'tile/0/000.p/2'],
      ['logEntryBundle(path: "000.p/2")', 'tile/entries/000.p/2'],
    ] as const) {
      const bytes = await bytesAt(path);
      expect(bytes?.length).toBeGreaterThan(0);
      expect(await onGraphOf(service, field)).toBe(bytes?.toString('base64'));
    }
  });

  it('are null where the doors answer 404', async () => {
    expect(await onGraphOf(service, 'logTile(level: "0", path: "000")')).toBeNull();
    expect(await onGraphOf(service, 'logEntryBundle(path: "000")')).toBeNull();
    const closed = await sharedService();
    await closed.buy(await closed.chain.newWallet(), ask('one'));
    expect(await onGraphOf(closed, 'logEntryBundle(path: "000.p/1")')).toBeNull();
  });
});

describe('GET /log/proof/{task_id}', () => {
  it('200: a text by which the preimage of a receipt is proven to stand in the log', async () => {
    const proof = await service.get<string>(`/log/proof/${chat.svc.task_id}`);
    const preimage = await service.get(`/receipt/${chat.svc.task_id}/preimage`);
    expect(openProof(proof.body, Buffer.from(preimage.text), key)).toMatchObject({ index: 1 });
  });

  it('404 for a task without a receipt', async () => {
    expect(await service.get('/log/proof/task_none')).toMatchObject(notFound);
  });
});

describe('GET /log/inclusion and /log/consistency', () => {
  it('200 with the same proof as JSON', async () => {
    const { task_id } = chat.svc;
    const heard = await service.get(`/log/inclusion?task_id=${task_id}&tree_size=2`);
    expect(heard).toMatchObject({ status: 200, body: { task_id, leaf_index: 1, tree_size: 2 } });
    expect((heard.body as { path: string[] }).path).toHaveLength(1);
    expect(await service.get('/log/consistency?from=1&to=2')).toMatchObject({
      status: 200,
      body: [expect.stringMatching(/^[0-9a-f]{64}$/)],
    });
  });

  it('404 for a receipt that is not there, or not in a tree as small', async () => {
    expect(await service.get('/log/inclusion?task_id=task_none')).toMatchObject(notFound);
    expect(await service.get(`/log/inclusion?task_id=${chat.svc.task_id}&tree_size=1`)).toMatchObject(notFound);
  });

  it.each(['/log/inclusion', '/log/consistency', '/log/consistency?from=0&to=1', '/log/consistency?from=1&to=99'])(
    '400 at %s',
    async path => {
      expect(await service.get(path)).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
    },
  );
});

/** Must be the last test, because a gateway that has found the halt stays halted. */
describe('GET /log/checkpoint and /log/proof/{task_id} of a halted log', () => {
  it('503: nothing is stated of it', async () => {
    await service.query(`update log_head set halted = '{"known":{},"found":{}}'`);
    try {
      expect(await service.get('/log/checkpoint')).toMatchObject({ status: 503, body: { code: 'unavailable' } });
      expect(await service.get(`/log/proof/${chat.svc.task_id}`)).toMatchObject({ status: 503 });
    } finally {
      await service.query('update log_head set halted = null');
    }
  });
});
