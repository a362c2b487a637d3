import type { AddressInfo } from 'node:net';
import { connect, createServer, type Socket } from 'node:net';
import { atEnd } from '../release.ts';
import { boundStatement, commandTag, MessageReader, queryText } from './postgres-messages.ts';

/** A commit whose answer is lost. `lost`: the commit did not reach the server. `done`: the server committed. */
export interface Cut {
  /** Name of a prepared statement by which the transaction is recognised. */
  readonly statement: string;
  readonly commit: 'lost' | 'done';
}

interface CutOptions {
  /** Whether every other connection is cut too, and refused until `up`. */
  readonly down?: boolean;
  /** Called at the cut, before the client notices it. */
  readonly at_cut?: () => unknown;
}

export type DatabaseProxy = Awaited<ReturnType<typeof startDatabaseProxy>>;

/** Names of the prepared statements that begin a transaction. */
const BEGINS: ReadonlySet<string> = new Set(['begin', 'begin read only']);

/** A proxy in front of Postgres. It can cut a transaction's connection at its commit, or refuse all connections. */
export async function startDatabaseProxy(database_url: string) {
  const target = new URL(database_url);
  const sockets = new Set<Socket>();
  let cut: Cut | null = null;
  let cutting: CutOptions = {};
  let down = false;
  let cuts = 0;
  const named = target.pathname.slice(1);
  let database = named;

  const hangUp = (end: () => void) => {
    cut = null;
    cuts += 1;
    cutting.at_cut?.();
    end();
    if (cutting.down) fall();
  };
  const fall = () => {
    down = true;
    for (const socket of sockets) socket.destroy();
  };
  const server = createServer(client => {
    if (down) return void client.destroy();
    const backend = connect(Number(target.port), target.hostname);
    const both = [client, backend];
    const end = () => {
      for (const socket of both) socket.destroy();
    };
    for (const socket of both) {
      sockets.add(socket.setNoDelay(true));
      socket
        .on('error', () => {})
        .on('close', end)
        .on('close', () => sockets.delete(socket));
    }
    const said = new MessageReader('client');
    const answered = new MessageReader('server');
    const spoken = new Set<string>();
    let losing = false;
    client.on('data', bytes => {
      for (const message of said.read(bytes)) {
        const text = queryText(message);
        const executed = boundStatement(message);
        if (executed !== null && BEGINS.has(executed)) spoken.clear();
        if (executed !== null) spoken.add(executed);
        const committed = text === 'commit' && cut !== null && spoken.has(cut.statement);
        // The messages before the commit have reached the server, but the commit itself must not.
        if (committed && cut?.commit === 'lost') return hangUp(end);
        losing ||= committed;
        backend.write(message.type === null ? addressed(message.bytes, named, database) : message.bytes);
      }
    });
    backend.on('data', bytes => {
      for (const message of answered.read(bytes)) {
        if (losing && commandTag(message) === 'COMMIT') return hangUp(end);
        client.write(message.bytes);
      }
    });
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  atEnd(() => {
    server.close();
    fall();
  });
  const port = String((server.address() as AddressInfo).port);
  return {
    url: Object.assign(new URL(database_url), { port }).href,
    /** Cuts the connection at the next commit of such a transaction. */
    cutNext(next: Cut, options: CutOptions = {}): void {
      cut = next;
      cutting = options;
    },
    cuts: () => cuts,
    /** Cuts all connections and refuses new ones until `up`. */
    down: fall,
    /** Accepts connections again. They lead to the database `to`, which must be on the same server and have a name of the same length. */
    up(to: string = database): void {
      database = to;
      down = false;
    },
  };
}

/** The start-up message with another database name of the same length, because the message contains its own length. */
function addressed(greeting: Buffer, named: string, database: string): Buffer {
  if (named.length !== database.length) throw new RangeError(`${database} is not as long as ${named}`);
  return Buffer.from(greeting.toString('latin1').replace(`\0${named}\0`, `\0${database}\0`), 'latin1');
}
