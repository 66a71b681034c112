package place

const folderOnly = 0
