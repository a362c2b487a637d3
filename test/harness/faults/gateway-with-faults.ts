import pino from 'pino';
import { z } from 'zod';
import { readConfig } from '../../../gateway/config/read-config.ts';
import { startDevelopment } from '../../../gateway/development/start.ts';
import { openGateway } from '../../../gateway/open.ts';
import { type FaultPoint, type Faults, faultPoints } from '../../../gateway/operations/faults.ts';

/*
 * The service, with a fault of its own: calls that reach a named point are held there, and with the n-th of them the
 * process sends itself a signal. Held calls go on after SIGCONT; SIGKILL leaves nothing that could.
 */

const Point = z.enum(faultPoints);
const Points = z.string().transform(points =>
  points
    .split(',')
    .filter(Boolean)
    .map((point): FaultPoint => Point.parse(point)),
);

const Plan = z.object({
  /** One, or several with a comma between them; at each as many are held. */
  FAULT_POINT: Points,
  /** One call at each of these is held before anything happens at those above. */
  FAULT_HELD: Points,
  FAULT_REACHED: z.coerce.number().int().min(1),
  FAULT_SIGNAL: z.enum(['SIGKILL', 'SIGSTOP', 'none']),
});

function planned(plan: z.infer<typeof Plan>): Faults {
  const resumed = Promise.withResolvers<void>();
  process.once('SIGCONT', () => resumed.resolve());
  const before = new Set(plan.FAULT_HELD);
  const left = new Map(plan.FAULT_POINT.map(point => [point, plan.FAULT_REACHED]));
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
