import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { freshChain } from './chain.ts';
import { freshDatabase } from './database.ts';
import { startGateway } from './gateway.ts';
import { startTestHub } from './hub.ts';

async function tables(url: string, statement: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
    const text = `select tablename from pg_tables where schemaname = 'public'`;
    return (await client.query<{ tablename: string }>(text)).rows.map(row => row.tablename);
  } finally {
    await client.end();
  }
}

describe('what every test stands on', () => {
  it('two fresh databases share nothing', async () => {
    const [one, two] = await Promise.all([freshDatabase(), freshDatabase()]);
    expect(await tables(one.url, 'create table only_here ()')).toContain('only_here');
    expect(await tables(two.url, 'select 1')).not.toContain('only_here');
    await one.drop();
    await expect(tables(one.url, 'select 1')).rejects.toThrow(/does not exist/);
  });

  it('a fresh chain mints for many wallets at once', async () => {
    const chain = await freshChain();
    const wallets = await Promise.all(Array.from({ length: 10 }, (_, index) => chain.newWallet(BigInt(index))));
    const balances = await Promise.all(wallets.map(wallet => chain.balanceOf(wallet.address)));
    expect(balances).toEqual(Array.from({ length: 10 }, (_, index) => BigInt(index)));
  });

  it('a test hub does as it is told, and remembers', async () => {
    const hub = await startTestHub({ name: 'one', models: ['m'] });
    const body = { model: 'm', messages: [{ role: 'user', content: 'hello' }] };
    const post = () => fetch(`${hub.base_url}/chat/completions`, { method: 'POST', body: JSON.stringify(body) });
    expect(await (await post()).text()).toContain('hello');
    hub.behave({ kind: 'status', status: 500 });
    expect((await post()).status).toBe(500);
    hub.behave({ kind: 'close' });
    await expect(post()).rejects.toThrow();
    expect(hub.requests.map(request => [request.path, request.body])).toEqual(
      Array.from({ length: 3 }, () => ['/v1/chat/completions', body]),
    );
  });

  it('a gateway that refuses to start shows its reasons', async () => {
    const gateway = await startGateway({ environment: { NODE_ENV: 'production' }, await_health: false });
    expect(await gateway.exited).not.toBe(0);
    expect(gateway.logs.join('\n')).toMatch(/DATABASE_URL[\s\S]*ISSUER_KEYS/);
  });
});
