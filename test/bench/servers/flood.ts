import { serveTasks, startOptions } from '../child/answer.ts';
import { Connection } from '../load/connection.ts';

export interface FloodOptions {
  readonly url: string;
  readonly connections: number;
  /** Status of every answer. */
  readonly status: number;
}

/** Sends requests over many connections, each the next one once it has its answer, from `begin` until `end`. */
const { url, connections, status: expected } = startOptions<FloodOptions>();
let sent: readonly Buffer[] = [];
let is_flooding = false;
let answered = 0;
let ended: Promise<unknown> = Promise.resolve();

async function sendInTurn(first: number): Promise<void> {
  const connection = await Connection.open(url);
  try {
    for (let next = first; is_flooding; next++) {
      const { status, body } = await connection.exchange(sent[next % sent.length] as Buffer);
      if (status !== expected) throw new Error(`answered ${status}: ${body}`);
      answered++;
    }
  } finally {
    connection.close();
  }
}

const tasks = {
  /** Starts the flood. @param requests base64 of the requests that each connection sends in turn */
  begin(requests: readonly string[]) {
    sent = requests.map(request => Buffer.from(request, 'base64'));
    is_flooding = true;
    answered = 0;
    ended = Promise.all(Array.from({ length: connections }, (_, index) => sendInTurn(index)));
    ended.catch(() => {});
  },
  /** Stops the flood. Returns the number of answers. */
  async end(): Promise<number> {
    is_flooding = false;
    await ended;
    return answered;
  },
};
serveTasks({}, tasks, () => {});
