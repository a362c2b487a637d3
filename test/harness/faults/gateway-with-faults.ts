import pino from 'pino';
import { z } from 'zod';
import { readConfig } from '../../../gateway/config/read-config.ts';
import { startDevelopment } from '../../../gateway/development/start.ts';
import { openGateway } from '../../../gateway/open.ts';
import { type FaultPoint, type Faults, faultPoints } from '../../../gateway/operations/faults.ts';

/*
 * The service with a planned fault. Calls that reach a named point are held there, and at the n-th of them the process sends itself a
 * signal. Held calls continue after SIGCONT; after SIGKILL none can. A plan that goes from point to point waits for SIGUSR2 before each
 * further point.
 */

const Point = z.enum(faultPoints);
const Points = z.string().transform(points =>
  points
    .split(',')
    .filter(Boolean)
    .map((point): FaultPoint => Point.parse(point)),
);

const Plan = z.object({
  /** One or more points, separated by commas. The same number of calls is held at each. */
  FAULT_POINT: Points,
  /** Whether only the first point is active at first, and each further one after a SIGUSR2. */
  FAULT_IN_TURN: z.stringbool().default(false),
  /** One call must be held at each of these points before the fault happens at those above. */
  FAULT_HELD: Points,
  FAULT_REACHED: z.coerce.number().int().min(1),
  FAULT_SIGNAL: z.enum(['SIGKILL', 'SIGSTOP', 'none']),
});

function planned(plan: z.infer<typeof Plan>): Faults {
  let resumed = Promise.withResolvers<void>();
  process.on('SIGCONT', () => {
    resumed.resolve();
    resumed = Promise.withResolvers();
  });
  const before = new Set(plan.FAULT_HELD);
  const waiting = [...plan.FAULT_POINT];
  const next = () => waiting.splice(0, plan.FAULT_IN_TURN ? 1 : waiting.length);
  const left = new Map(next().map(point => [point, plan.FAULT_REACHED]));
  process.on('SIGUSR2', () => {
    for (const point of next()) {
      left.set(point, plan.FAULT_REACHED);
      console.log(`armed at ${point}`);
    }
  });
  return {
    async reach(point) {
      if (before.delete(point)) {
        console.log(`held at ${point}: 1`);
        return resumed.promise;
      }
      const more = (left.get(point) ?? 0) - 1;
      if (more < 0 || before.size > 0) return;
      left.set(point, more);
      console.log(`held at ${point}: ${plan.FAULT_REACHED - more}`);
      if (more === 0 && plan.FAULT_SIGNAL !== 'none') process.kill(process.pid, plan.FAULT_SIGNAL);
      await resumed.promise;
    },
  };
}

const plan = Plan.parse(process.env);
const development = await startDevelopment(readConfig());
await openGateway(development.config, {
  logger: pino({ level: development.config.log_level }),
  faults: planned(plan),
});
