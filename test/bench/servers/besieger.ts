import { answer, given } from '../child/answer.ts';
import { Connection } from '../load/connection.ts';

export interface BesiegerGiven {
  readonly url: string;
  readonly connections: number;
}

/** Sends what is answered 402 over and over, on many connections, from when it is told to until it is told to stop. */
const { url, connections } = given<BesiegerGiven>();
let sent: readonly Buffer[] = [];
let besieging = false;
let answered = 0;
let ended: Promise<unknown> = Promise.resolve();

async function besiege(first: number): Promise<void> {
  const connection = await Connection.open(url);
  try {
    for (let next = first; besieging; next++) {
      const { status, body } = await connection.exchange(sent[next % sent.length] as Buffer);
      if (status !== 402) throw new Error(`answered ${status}: ${body}`);
      answered++;
    }
  } finally {
    connection.close();
  }
}

const tasks = {
  /** With what its connections send in turn, in base64. */
  begin(requests: readonly string[]) {
    sent = requests.map(request => Buffer.from(request, 'base64'));
    besieging = true;
    answered = 0;
    ended = Promise.all(Array.from({ length: connections }, (_, index) => besiege(index)));
    ended.catch(() => {});
  },
  /** How many were answered. */
  async end(): Promise<number> {
    besieging = false;
    await ended;
    return answered;
  },
};
answer({}, tasks, () => {});
