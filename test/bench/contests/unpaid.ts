import pg from 'pg';
import { atLeast, type Contest, perSecond, type Side } from '../contest.ts';
import { drive, once } from '../load/callers.ts';
import { bytesOf } from '../load/connection.ts';
import type { Bare402Given, Bare402Ready } from '../servers/bare-402.ts';

const CALLERS = 64;
const body = JSON.stringify({ model: 'bench/small', messages: [{ role: 'user', content: 'Hello' }] });
const unpaidCall = (url: string) => bytesOf({ method: 'POST', url: `${url}/v1/chat/completions`, body });

/** A request without payment. Anyone may send it for free, so it must cost very little and write nothing. */
export const unpaid: Contest = {
  name: 'unpaid',
  beside: 'bare node:http, a fixed 402',
  lines: [
    { name: 'unpaid 402', unit: 'requests/s', goal: atLeast(0.3), of: perSecond },
    {
      name: 'the same: writing transactions (the heartbeat is one in two seconds)',
      unit: 'per 1,000 requests',
      goal: { kind: 'at_most', value: 1 },
      alone: true,
      of: ({ operations, counts }) => ((counts.writes ?? Number.NaN) / operations) * 1000,
    },
  ],
  async open({ stage, closing, seconds }) {
    const gateway = await stage.gateway();
    const { url } = gateway.ready;
    const { head, body: offer } = await once(url, unpaidCall(url));
    const given: Bare402Given = { headers: headersIn(head), body: offer };
    const beside = await stage.start<Bare402Ready>({ file: 'bare-402', given }, closing);

    const database = new pg.Client({ connectionString: await stage.gateway_database() });
    // Postgres may end before this client. Without a listener that error would end the bench.
    database.on('error', () => {});
    await database.connect();
    closing.adopt(database, it => it.end());

    const asking = (server: typeof gateway | typeof beside): Side => ({
      async round() {
        const before = await writesOf(database);
        const { url } = server.ready;
        const request = unpaidCall(url);
        const load = { url, servers: [server], request: () => request, seconds, callers: CALLERS, status: 402 };
        const measured = await drive(load);
        return { ...measured, counts: { writes: (await writesOf(database)) - before } };
      },
    });
    return { ours: asking(gateway), beside: asking(beside) };
  },
};

/** Number of transactions in the cluster that have written, because only those get a transaction id. */
async function writesOf(database: pg.Client): Promise<number> {
  const text = 'select pg_snapshot_xmax(pg_current_snapshot())::text as next';
  const { rows } = await database.query<{ next: string }>(text);
  return Number(rows[0]?.next);
}

function headersIn(head: string): Record<string, string> {
  const [, ...lines] = head.split('\r\n');
  const pairs = lines.map(line => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)] as const);
  return Object.fromEntries(pairs.filter(([name]) => !/^(date|connection|keep-alive)$/i.test(name)));
}
