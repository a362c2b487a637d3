import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A command in a page, as a shell would run it. */
export interface ShellWords {
  readonly program: string;
  readonly args: readonly string[];
  /** Value of SVC_SESSION if the command sets it for its program. */
  readonly session: string | undefined;
}

const NUL = '\0';
/** Shell functions with the names of the programs, which a shell prefers. They print their arguments. */
const PROGRAMS = ['curl', 'npm', 'node']
  .map(name => `${name}() { printf '%s\\0' "$SVC_SESSION" ${name} "$@"; }`)
  .join('\n');

/** The words of a command after the shell has expanded variables and quotes. The command is not run. */
export async function shellWords(line: string, variables: Readonly<Record<string, string>>): Promise<ShellWords> {
  const { stdout } = await run('sh', ['-c', `${PROGRAMS}\n${line}`], { env: { PATH: process.env.PATH, ...variables } });
  const [session = '', program = '', ...args] = stdout.split(NUL).slice(0, -1);
  return { program, args, session: session === '' ? undefined : session };
}

/** Options of curl that the pages use. True if a value follows the option. */
const options: Readonly<Record<string, boolean>> = { '-s': false, '-X': true, '-d': true, '-o': true, '-H': true };

/** Sends the request that curl would send, because this machine may not have curl. @throws if a page uses another option */
export async function curl(
  words: readonly string[],
): Promise<{ readonly answer: Response; readonly file: string | null }> {
  const given = new Map<string, string>();
  const headers = new Headers();
  const rest = [...words];
  let url = '';
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (!word.startsWith('-')) url = word;
    else if (options[word] === undefined) throw new Error(`curl ${word} is not known here`);
    else if (options[word]) given.set(word, rest.shift() ?? '');
    const [, name, value] = (word === '-H' && /^([^:]+): (.*)$/.exec(given.get(word) ?? '')) || [];
    if (name) headers.set(name, value ?? '');
  }
  const body = given.get('-d');
  const method = given.get('-X') ?? (body === undefined ? 'GET' : 'POST');
  return { answer: await fetch(url, { method, headers, body }), file: given.get('-o') ?? null };
}
