import { readFileSync } from 'node:fs';

/**
 * Modules as the one script of a page, which can import nothing: each behind those that it imports, and none names at its top what
 * another does.
 */
export function oneScript(modules: readonly URL[]): string {
  return modules.map(module => bare(readFileSync(module, 'utf8'))).join('\n');
}

function bare(source: string): string {
  return source.replaceAll(/^import [^;]*;\n/gm, '').replaceAll(/^export (?=(async )?function |const )/gm, '');
}
