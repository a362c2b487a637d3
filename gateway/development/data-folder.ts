import { access, mkdir, realpath } from 'node:fs/promises';

/**
 * Makes DATA_DIR if need be and gives its real path. Others may pass through and not look around: as root the
 * database server runs as another user and must reach its cluster inside; every file in here is 0600 by itself.
 */
export async function makeDataFolder(data_dir: string): Promise<string> {
  await mkdir(data_dir, { recursive: true, mode: 0o711 });
  return realpath(data_dir);
}

export function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
