import { cpus, loadavg, type } from 'node:os';
import type { Figure } from './alternate.ts';

/** The machine of the figures: ratios hold on another machine, absolute figures do not. */
export function machine(rounds: number): string {
  const [first] = cpus();
  const load = loadavg()[0]?.toFixed(1);
  const cores = `${cpus().length} × ${first?.model ?? 'an unknown processor'}`;
  return `${cores}, ${type()}, Node ${process.version}, load ${load} before; medians of ${rounds} alternating rounds.`;
}

export const heading = [
  '| work | unit | ours | beside | ours : beside | goal | reached | our CPU per operation |',
  '|---|---|---:|---:|---:|---:|---|---:|',
].join('\n');

export function tableRow(figure: Figure, beside: string): string {
  const { name, unit, ours, ratio, goal, reached, cpu_us, note } = figure;
  const cells = [
    note ? `${name} (${note})` : name,
    unit,
    digits(ours),
    figure.beside === null ? '–' : `${digits(figure.beside)} (${beside})`,
    ratio === null ? '–' : `${digits(ratio)} ×`,
    goal,
    reached ? 'yes' : 'no',
    cpu_us === null ? '–' : `${digits(cpu_us / 1000)} ms`,
  ];
  return `| ${cells.join(' | ')} |`;
}

/** Three significant digits, or all digits before the point if there are more. */
function digits(value: number | null): string {
  if (value === null) return '–';
  if (Math.abs(value) >= 100) return value.toLocaleString('en', { maximumFractionDigits: 0 });
  return String(Number(value.toPrecision(3)));
}
