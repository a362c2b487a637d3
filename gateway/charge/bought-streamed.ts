import type { JsonObject } from '../../schema/canonical-json.ts';
import type { Context } from '../../subgraphs/context.ts';
import type { Piece } from '../../subgraphs/piece.ts';
import type { Charged, ChargedStream } from '../../subgraphs/sale.ts';
import type { AnyStream } from '../record/recorder.ts';
import { type BoughtBefore, type Due, dueTo, refOf } from './bought-whole.ts';
import { workUntil } from './deadline.ts';
import { pumpOf } from './drive-stream.ts';
import { rerunFailed } from './rerun.ts';
import type { Till } from './till.ts';

/** The same payment for the same streamed request: what was said then is streamed once more, each part in one piece. */
export async function redeliverStream(
  till: Till,
  paid: AnyStream,
  before: BoughtBefore,
  context: Context,
): Promise<ChargedStream<JsonObject>> {
  const due = await dueTo(till, before, context);
  if (due.kind === 'rerun') return speakAgain(till, paid, before.presented.args, due, context);
  const { answer } = due;
  return {
    ...replayed(due),
    begun: answer,
    pieces: once(paid.piecesOf(answer)),
    recorded: Promise.resolve(charged(due, answer)),
  };
}

/** The money moved long ago: nothing holds the text back, and it is brought to its end as it was the first time. */
async function speakAgain(
  till: Till,
  paid: AnyStream,
  args: JsonObject,
  due: Extract<Due, { kind: 'rerun' }>,
  context: Context,
): Promise<ChargedStream<JsonObject>> {
  const { task_id, rerun } = due;
  const failed = async (error: unknown): Promise<never> => {
    await rerun.giveUp();
    throw rerunFailed(till, task_id, error);
  };
  const speaking = await paid.open(args, task_id, context, workUntil(till.clock.now_ms(), null)).catch(failed);
  const pump = pumpOf(till, speaking);
  pump.release();
  const recorded = pump.ended
    .then(async () => {
      const work = speaking.spoken();
      await rerun.keep(work);
      return charged(due, work.answer);
    })
    .catch(failed);
  till.streams.add(recorded, () => pump.cancel());
  return { ...replayed(due), begun: speaking.begun, pieces: pump.pieces, recorded };
}

function replayed({ task_id, receipt }: Due) {
  return { task_id, settlement_status: 'idempotent_replay', payment_ref: refOf(receipt) } as const;
}

function charged({ task_id, receipt }: Due, answer: JsonObject): Charged<JsonObject> {
  return { answer, task_id, settlement_status: 'idempotent_replay', receipt };
}

export async function* once(pieces: readonly Piece[]): AsyncGenerator<Piece> {
  yield* pieces;
}
