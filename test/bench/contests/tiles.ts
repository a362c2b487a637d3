import { clearScratch, makeScratch } from '../../harness/scratch.ts';
import { atLeast, type Contest, perSecond, type Side } from '../contest.ts';
import { drive } from '../load/callers.ts';
import { bytesOf } from '../load/connection.ts';
import type { Job } from '../servers/ledger.ts';
import type { StaticFileGiven, StaticFileReady } from '../servers/static-file.ts';

const CALLERS = 32;
const TILE = '/log/tile/0/000';
const FILE = 'tile';
/** Number of receipts that fill the tile, together with those of the stage's book. */
const RECEIPTS = 64;

/** A full tile of the log, which every follower reads, compared with a static file of the same bytes. */
export const tiles: Contest = {
  name: 'tiles',
  beside: '@fastify/static, a file of the same bytes',
  lines: [{ name: 'tile of the log, 8 KiB', unit: 'tiles/s', goal: atLeast(0.5), of: perSecond }],
  async open({ stage, closing, seconds }) {
    const gateway = await stage.gateway();
    const book = await stage.book();
    const ledger = await stage.ledger();
    const job: Job = { book, count: RECEIPTS };
    await ledger.ask('prepare', job);
    await ledger.ask('append', job);
    const answered = await fetch(gateway.ready.url + TILE);
    if (answered.status !== 200) throw new Error(`the tile answered ${answered.status}`);
    const bytes = Buffer.from(await answered.arrayBuffer()).toString('base64');
    const given: StaticFileGiven = { folder: closing.adopt(await makeScratch(), clearScratch), path: FILE, bytes };
    const beside = await stage.start<StaticFileReady>({ file: 'static-file', given }, closing);
    const asking = (server: typeof gateway | typeof beside, path: string): Side => ({
      round() {
        const { url } = server.ready;
        const request = bytesOf({ method: 'GET', url: url + path });
        return drive({ url, servers: [server], request: () => request, seconds, callers: CALLERS, status: 200 });
      },
    });
    return { ours: asking(gateway, TILE), beside: asking(beside, `/${FILE}`) };
  },
};
