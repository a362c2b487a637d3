import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { z } from 'zod';
import type { Metrics } from './metrics.ts';

const PACKAGE = join(import.meta.dirname, '..', '..', 'package.json');
const DELAY_RESOLUTION_MS = 20;

/** What every process has, under the names that Prometheus's own clients give it. Resolves to what ends the watching. */
export function watchProcess(metrics: Metrics): () => void {
  const { version } = z.object({ version: z.string() }).parse(JSON.parse(readFileSync(PACKAGE, 'utf8')));
  const started_seconds = Date.now() / 1_000 - process.uptime();
  const build = [[{ version, node: process.version }, 1]] as const;
  metrics.watch('svc_build_info', 'What runs here', ['version', 'node'], () => build);
  metrics.watch('process_start_time_seconds', 'Since when it runs, in Unix time', [], () => [[{}, started_seconds]]);
  metrics.watchTotal('process_cpu_seconds_total', 'CPU time', ['mode'], () => {
    const { user, system } = process.cpuUsage();
    return [
      [{ mode: 'user' }, user / 1e6],
      [{ mode: 'system' }, system / 1e6],
    ];
  });
  metrics.watch('process_open_fds', 'Open file descriptors', [], async () => {
    // Counted where Linux shows them.
    const open = await readdir('/proc/self/fd').catch(() => null);
    return open ? [[{}, open.length]] : [];
  });
  metrics.watch('nodejs_memory_bytes', 'Memory by what holds it', ['kind'], () => {
    const { rss, heapTotal, heapUsed, external } = process.memoryUsage();
    return Object.entries({ resident: rss, heap: heapTotal, heap_used: heapUsed, external }).map(
      ([kind, bytes]) => [{ kind }, bytes] as const,
    );
  });
  return watchDelay(metrics);
}

/** How much later than asked for the event loop comes round: what every caller waits for besides the call itself. */
function watchDelay(metrics: Metrics): () => void {
  const delay = monitorEventLoopDelay({ resolution: DELAY_RESOLUTION_MS });
  delay.enable();
  // `quantile` is a summary's label, and of what was counted since the last scrape no summary can be made.
  metrics.watch(
    'nodejs_eventloop_delay_seconds',
    'Delay of the event loop since the last scrape',
    ['statistic'],
    () => {
      const late = (nanoseconds: number) => Math.max(0, nanoseconds / 1e9 - DELAY_RESOLUTION_MS / 1e3);
      const seen = [
        [{ statistic: 'p50' }, late(delay.percentile(50))],
        [{ statistic: 'p99' }, late(delay.percentile(99))],
        [{ statistic: 'max' }, late(delay.max)],
      ] as const;
      const any = delay.count > 0;
      delay.reset();
      return any ? seen : [];
    },
  );
  return () => delay.disable();
}
