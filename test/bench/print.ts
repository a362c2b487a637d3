import { cpus, loadavg, type } from 'node:os';
import type { Figure } from './alternate.ts';

/** Description of this machine, because absolute figures hold only on it, while ratios hold on other machines too. */
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

/** Text of a figure with three significant digits, or with all digits before the decimal point if there are more. */
function digits(value: number | null): string {
  if (value === null) return '–';
  if (Math.abs(value) >= 100) return value.toLocaleString('en', { maximumFractionDigits: 0 });
  return String(Number(value.toPrecision(3)));
}
