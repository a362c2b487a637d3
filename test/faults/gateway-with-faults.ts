import pino from 'pino';
import { z } from 'zod';
import { readConfig } from '../../gateway/config.ts';
import { startDevelopment } from '../../gateway/development/start.ts';
import { openGateway } from '../../gateway/gateway.ts';
import type { FaultPoint, Faults } from '../../gateway/payment/till.ts';

/*
 * The service, with a fault of its own: calls that reach the named point are held there, and with the n-th of them the
 * process sends itself a signal. Held calls go on after SIGCONT; SIGKILL leaves nothing that could.
 */

const Plan = z.object({
  FAULT_POINT: z.enum([
    'after_claim',
    'after_work',
    'after_settling',
    'after_broadcast',
    'mid_stream',
    'before_record',
    'after_record',
  ] satisfies FaultPoint[]),
  FAULT_REACHED: z.coerce.number().int().min(1),
  FAULT_SIGNAL: z.enum(['SIGKILL', 'SIGSTOP']),
});

function planned(plan: z.infer<typeof Plan>): Faults {
  const resumed = Promise.withResolvers<void>();
  process.once('SIGCONT', () => resumed.resolve());
  let reached = 0;
  return {
    async reach(point) {
      if (point !== plan.FAULT_POINT || reached >= plan.FAULT_REACHED) return;
      reached += 1;
      console.log(`held at ${point}: ${reached}`);
      if (reached === plan.FAULT_REACHED) process.kill(process.pid, plan.FAULT_SIGNAL);
      await resumed.promise;
    },
  };
}

const development = await startDevelopment(readConfig());
await openGateway(development.config, {
  logger: pino({ level: development.config.log_level }),
  faults: planned(Plan.parse(process.env)),
});
