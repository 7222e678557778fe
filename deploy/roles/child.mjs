import { importModule } from '../import-module.mjs';

const { runChild } = await importModule('./child', import.meta.url);
runChild();
